"""Unrolls a curved sheet: finds a flat map of points in space that keeps their distances (metric scaling by gradient descent)."""
import json

import torch

POINTS = 320
STEPS = 60


def pick_device():
    if torch.backends.mps.is_available():
        return torch.device("mps")
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def sheet():
    """Points on a sheet that is rolled up in space, in a fixed order."""
    turn = 4.7 + 4.7 * torch.rand(POINTS)
    height = 8 * torch.rand(POINTS)
    return torch.stack([turn * torch.cos(turn), height, turn * torch.sin(turn)], dim=1) / 10


def main():
    torch.manual_seed(5)
    device = pick_device()
    points = sheet().to(device)
    layout = (points[:, :2] + 0.01 * torch.randn(POINTS, 2).to(device)).requires_grad_()
    optimizer = torch.optim.SGD([layout], lr=40.0, momentum=0.5)
    wanted = torch.pdist(points)
    stresses = []
    for step in range(STEPS):
        optimizer.zero_grad()
        found = torch.pdist(layout)
        stress = ((found - wanted) ** 2).mean()
        stress.backward()
        optimizer.step()
        stresses.append(stress.item())
    print(f"device: {device}, stress {stresses[0]:.5f} -> {stresses[-1]:.5f}")
    with open("stress.json", "w") as file:
        json.dump({"first": stresses[0], "last": stresses[-1]}, file, indent=2)


if __name__ == "__main__":
    main()
