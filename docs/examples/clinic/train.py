"""Tells two groups apart by four blood markers."""
import csv
import json

import torch
from torch import nn


def pick_device():
    if torch.backends.mps.is_available():
        return torch.device("mps")
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def load(path):
    with open(path, newline="") as file:
        table = list(csv.reader(file))[1:]
    markers = torch.tensor([[float(cell) for cell in row[:-1]] for row in table], dtype=torch.float32)
    groups = torch.tensor([float(row[-1]) for row in table], dtype=torch.float32)
    return (markers - markers.mean(dim=0)) / markers.std(dim=0), groups


def main():
    torch.manual_seed(3)
    device = pick_device()
    model = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1)).to(device)
    markers, groups = (part.to(device) for part in load("data/synthetic.csv"))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(80):
        optimizer.zero_grad()
        loss = nn.functional.binary_cross_entropy_with_logits(model(markers).squeeze(1), groups)
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        right = ((model(markers).squeeze(1) > 0) == (groups > 0.5)).float().mean().item()
    print(f"device: {device}, loss {loss.item():.4f}, right {right:.3f}")
    with open("metrics.json", "w") as file:
        json.dump({"loss": loss.item(), "accuracy": right}, file, indent=2)


if __name__ == "__main__":
    main()
