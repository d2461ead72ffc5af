"""Makes data/synthetic.csv: four made-up blood markers of people who never existed, and the group they belong to.

No table of real people was looked at: the numbers come from the generator below alone, so the same seed gives the same file.
"""
import argparse
import random


def rows(seed, count):
    generator = random.Random(seed)
    for _ in range(count):
        group = generator.randrange(2)
        markers = [generator.gauss(1.0 + 0.8 * group, 0.6), generator.gauss(5.0 - group, 1.1), generator.gauss(0.3, 0.1),
                   generator.gauss(2.0 + 0.5 * group, 0.7)]
        yield ",".join(f"{marker:.3f}" for marker in markers) + f",{group}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--rows", type=int, default=600)
    parser.add_argument("--out", default="data/synthetic.csv")
    arguments = parser.parse_args()
    with open(arguments.out, "w", newline="") as file:
        file.write("marker_a,marker_b,marker_c,marker_d,group\n")
        file.writelines(rows(arguments.seed, arguments.rows))


if __name__ == "__main__":
    main()
