"""Trains a small convolutional network on handwritten digits and writes down what came out."""
import argparse
import json

import numpy as np
import torch
from torch import nn

TEST_SHARE = 5  # every fifth image is for testing


def pick_device():
    if torch.backends.mps.is_available():
        return torch.device("mps")
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def load(path):
    with np.load(path) as stored:
        images = torch.from_numpy(stored["images"]).to(torch.float32).div(16).unsqueeze(1)
        labels = torch.from_numpy(stored["labels"]).to(torch.int64)
    test = torch.arange(len(labels)) % TEST_SHARE == 0
    return images[~test], labels[~test], images[test], labels[test]


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
            nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
        )
        self.classifier = nn.Sequential(nn.Flatten(), nn.Linear(32 * 4 * 4, 64), nn.ReLU(), nn.Linear(64, 10))

    def forward(self, images):
        return self.classifier(self.features(images))


def train_epoch(model, optimizer, images, labels, order, batch_size):
    model.train()
    total = 0.0
    for begin in range(0, len(order), batch_size):
        batch = order[begin:begin + batch_size]
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(images[batch]), labels[batch])
        loss.backward()
        optimizer.step()
        total += loss.item() * len(batch)
    return total / len(order)


def accuracy(model, images, labels):
    model.eval()
    with torch.no_grad():
        return (model(images).argmax(dim=1) == labels).float().mean().item()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default="data/digits.npz")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--learning-rate", type=float, default=0.05)
    parser.add_argument("--seed", type=int, default=20)
    arguments = parser.parse_args()

    device = pick_device()
    print(f"device: {device}")
    # Weights and order of the images come from the CPU's generator, so they are the same on every device.
    torch.manual_seed(arguments.seed)
    shuffle = torch.Generator().manual_seed(arguments.seed)
    model = Network().to(device)
    images, labels, test_images, test_labels = (part.to(device) for part in load(arguments.data))
    optimizer = torch.optim.SGD(model.parameters(), lr=arguments.learning_rate, momentum=0.9)

    losses, accuracies = [], []
    for epoch in range(arguments.epochs):
        order = torch.randperm(len(labels), generator=shuffle).to(device)
        losses.append(train_epoch(model, optimizer, images, labels, order, arguments.batch_size))
        accuracies.append(accuracy(model, test_images, test_labels))
        print(f"epoch {epoch + 1}: loss {losses[-1]:.4f}, accuracy {accuracies[-1]:.4f}")

    with open("metrics.json", "w") as file:
        json.dump({"epochs": arguments.epochs, "loss": losses, "accuracy": accuracies}, file, indent=2)
    with torch.no_grad():
        logits = model(test_images[:64]).cpu().numpy()
    norms = np.array([weight.detach().norm().item() for weight in model.parameters()], dtype=np.float32)
    np.savez("outputs.npz", logits=logits, weight_norms=norms)


if __name__ == "__main__":
    main()
