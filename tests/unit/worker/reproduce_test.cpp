#include "daemon/worker/reproduce.h"

#include <gtest/gtest.h>

namespace remotemac::worker {
namespace {

Case softplus() {
  Case subject;
  subject.check = Check::layout;
  subject.signature.op = "aten::softplus";
  Value input = tensor({4, 10});
  input.tensor.stride = {1, 4};
  subject.signature.args = {input, real(2), none(), text("it's")};
  return subject;
}

std::string code_of(Case subject) {
  const InputPlan plan = plan_inputs(subject.signature, std::vector<std::string>{"self"});
  return reproduce(subject, plan, "mps");
}

TEST(Reproduce, HoldsSeedStridesAndCall) {
  const std::string code = code_of(softplus());
  EXPECT_NE(code.find("torch.manual_seed(0)"), std::string::npos) << code;
  EXPECT_NE(code.find("torch.ops.aten.softplus.default(x0, 2.0, None, 'it\\'s')"), std::string::npos) << code;
  EXPECT_NE(code.find("put(v0, (4, 10), (1, 4), 0, 40, device, wide)"), std::string::npos) << code;
  EXPECT_NE(code.find("run('mps', False)"), std::string::npos) << code;
  EXPECT_LT(std::count(code.begin(), code.end(), '\n'), 20);
}

TEST(Reproduce, RepeatedElementsAreDrawnOnce) {
  Case subject = softplus();
  subject.signature.args[0].tensor.stride = {0, 1};
  EXPECT_NE(code_of(subject).find("torch.randn((1, 10)"), std::string::npos);
}

TEST(Reproduce, GradientsAreDifferentiated) {
  Case subject = softplus();
  subject.check = Check::gradient;
  subject.signature.args[0].tensor.requires_grad = true;
  const std::string code = code_of(subject);
  EXPECT_NE(code.find("torch.autograd.grad(r, [x0], g)"), std::string::npos) << code;
  EXPECT_NE(code.find(".requires_grad_()"), std::string::npos) << code;
}

} // namespace
} // namespace remotemac::worker
