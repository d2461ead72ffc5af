// Generated outputs: a run compared with itself is equal, and one changed element is exactly what is reported.
#include "sides.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <random>

namespace remotemac::compare {
namespace {
using nlohmann::json;
using test::Sides;

class Generator {
public:
  explicit Generator(std::uint32_t seed) : m_random(seed) {}
  std::size_t below(std::size_t limit) { return std::uniform_int_distribution<std::size_t>(0, limit - 1)(m_random); }
  double number() { return std::uniform_real_distribution<double>(-100, 100)(m_random); }

  json tree(int depth) {
    const std::size_t kind = below(depth > 0 ? 6 : 4);
    if (kind == 0)
      return number();
    if (kind == 1)
      return static_cast<std::int64_t>(below(1000));
    if (kind == 2)
      return "text" + std::to_string(below(10));
    if (kind == 3)
      return below(2) == 1;
    json out = kind == 4 ? json::array() : json::object();
    for (std::size_t i = 0, count = 1 + below(4); i < count; ++i) {
      if (out.is_array())
        out.push_back(tree(depth - 1));
      else
        out["k" + std::to_string(i)] = tree(depth - 1);
    }
    return out;
  }

private:
  std::mt19937 m_random;
};

std::uint32_t fresh_seed() {
  const std::uint32_t seed = std::random_device{}();
  ::testing::Test::RecordProperty("seed", std::to_string(seed));
  return seed;
}

// Every leaf of a tree with its path as the comparison writes it.
void leaves(json& value, const std::string& path, std::vector<std::pair<std::string, json*>>& out) {
  if (!value.is_structured()) {
    out.emplace_back(path, &value);
    return;
  }
  std::size_t index = 0;
  for (auto it = value.begin(); it != value.end(); ++it, ++index) {
    const std::string name = value.is_object() ? it.key() : std::to_string(index);
    leaves(*it, path.empty() ? name : path + "." + name, out);
  }
}

void perturb(json& leaf) {
  if (leaf.is_boolean())
    leaf = !leaf.get<bool>();
  else if (leaf.is_string())
    leaf = leaf.get<std::string>() + "x";
  else if (leaf.is_number_integer())
    leaf = leaf.get<std::int64_t>() + 1;
  else
    leaf = leaf.get<double>() + 1;
}

void expect_only(const Comparison& all, const std::string& key, std::uint64_t total, std::optional<std::uint64_t> index) {
  EXPECT_EQ(all.outputs_total, total);
  for (const OutputPair& pair : all.outputs) {
    if (pair.key != key) {
      EXPECT_EQ(pair.status, OutputStatus::equal) << pair.key;
      continue;
    }
    EXPECT_EQ(pair.status, OutputStatus::outside) << key;
    EXPECT_EQ(pair.mismatches, 1u);
    EXPECT_EQ(pair.first_index, index);
  }
  EXPECT_EQ(all.counts.at("outside"), 1u);
}

TEST(CompareProperty, Json) {
  const std::uint32_t seed = fresh_seed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Generator random(seed);
  for (int round = 0; round < 200; ++round) {
    const json reference = json{{"root", random.tree(4)}};
    json run = reference;
    Sides sides;
    const Comparison same = sides.compare("m.json", run.dump(), reference.dump());
    std::vector<std::pair<std::string, json*>> all;
    leaves(run, "", all);
    ASSERT_EQ(same.outputs_total, all.size());
    ASSERT_EQ(same.counts, (std::map<std::string, std::uint64_t>{{"equal", all.size()}}));
    const auto& [path, leaf] = all[random.below(all.size())];
    perturb(*leaf);
    expect_only(sides.compare("m.json", run.dump(), reference.dump()), path, all.size(), 0);
    ASSERT_FALSE(HasFailure()) << run.dump();
  }
}

TEST(CompareProperty, Arrays) {
  const std::uint32_t seed = fresh_seed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Generator random(seed);
  for (int round = 0; round < 200; ++round) {
    const std::size_t rows = 1 + random.below(6);
    const std::size_t columns = 1 + random.below(6);
    const std::string shape = "(" + std::to_string(rows) + ", " + std::to_string(columns) + ")";
    std::vector<std::vector<float>> values(1 + random.below(4), std::vector<float>(rows * columns));
    for (std::vector<float>& each : values)
      for (float& value : each)
        value = static_cast<float>(random.number());
    const auto archive = [&] {
      std::vector<std::pair<std::string, test::Bytes>> arrays;
      for (std::size_t i = 0; i < values.size(); ++i)
        arrays.emplace_back("x" + std::to_string(i) + ".npy", test::floats(values[i], shape));
      return test::text_of(test::npz_file(arrays, random.below(2) == 1));
    };
    Sides sides;
    const std::string reference = archive();
    ASSERT_EQ(sides.compare("o.npz", archive(), reference).counts, (std::map<std::string, std::uint64_t>{{"equal",
        values.size()}}));
    const std::size_t which = random.below(values.size());
    const std::size_t at = random.below(rows * columns);
    values[which][at] += 1;
    expect_only(sides.compare("o.npz", archive(), reference), "x" + std::to_string(which), values.size(), at);
    ASSERT_FALSE(HasFailure()) << "round " << round;
  }
}

} // namespace
} // namespace remotemac::compare
