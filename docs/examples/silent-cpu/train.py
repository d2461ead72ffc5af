"""Learns a noisy wave with a small recurrent network."""
import json

import torch
from torch import nn

# Written on a CUDA server. On a Mac there is no CUDA, so this quietly picks the CPU.
device = "cuda" if torch.cuda.is_available() else "cpu"


class Forecaster(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.memory = nn.GRU(1, width, batch_first=True)
        self.head = nn.Linear(width, 1)

    def forward(self, window):
        states, _ = self.memory(window)
        return self.head(states[:, -1])


def waves(count, length):
    """Windows of a wave with noise, and the value that follows each."""
    start = torch.rand(count, 1) * 6.28
    time = start + torch.arange(length + 1) * 0.3
    wave = torch.sin(time) + 0.05 * torch.randn(count, length + 1)
    return wave[:, :-1].unsqueeze(2), wave[:, -1:]


def main():
    torch.manual_seed(11)
    windows, following = waves(512, 24)
    model = Forecaster().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    losses = []
    for epoch in range(4):
        total = 0.0
        for begin in range(0, len(windows), 64):
            window = windows[begin:begin + 64].to(device)
            expected = following[begin:begin + 64].to(device)
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(window), expected)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(window)
        losses.append(total / len(windows))
        print(f"epoch {epoch + 1}: loss {losses[-1]:.4f}")
    with open("metrics.json", "w") as file:
        json.dump({"loss": losses}, file, indent=2)


if __name__ == "__main__":
    main()
