"""Fits a spectrometer's wavelength scale: a polynomial of degree 6 through the lines of a calibration lamp.

The normal equations of this fit have a condition number of 4e8, which float32 (7 digits) cannot hold: the fit would miss the
lines by a third of a nanometre. With float64 (16 digits) it meets them to a millionth.
"""
import argparse
import json

import torch

DEGREE = 6
LINES = 160


def pick_device():
    if torch.backends.mps.is_available():
        return torch.device("mps")
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def lamp(dtype):
    """Positions on the detector (0 to 1) and wavelengths in nanometres of the lamp's lines."""
    position = torch.linspace(0.0, 1.0, LINES, dtype=torch.float64)
    true_scale = torch.tensor([380.0, 415.0, -31.0, 12.5, -7.25, 3.5, -1.75], dtype=torch.float64)
    wavelength = torch.stack([position**power for power in range(DEGREE + 1)], dim=1) @ true_scale
    return position.to(dtype), wavelength.to(dtype)


def fit(position, wavelength):
    design = torch.stack([position**power for power in range(DEGREE + 1)], dim=1)
    normal = design.T @ design
    factor = torch.linalg.cholesky(normal)
    scale = torch.cholesky_solve((design.T @ wavelength).unsqueeze(1), factor).squeeze(1)
    return scale, design @ scale - wavelength


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--dtype", choices=("float64", "float32"), default="float64", help="float32 shows why float64 is needed")
    arguments = parser.parse_args()
    device = pick_device()
    position, wavelength = lamp(getattr(torch, arguments.dtype))
    position = position.to(device)
    wavelength = wavelength.to(device)
    scale, residual = fit(position, wavelength)
    worst = residual.abs().max().item()
    print(f"device: {device}, largest residual {worst:.3g} nm")
    with open("scale.json", "w") as file:
        json.dump({"coefficients": scale.tolist(), "largest_residual_nm": worst}, file, indent=2)
    if not worst < 1e-6:
        raise SystemExit(f"the fit is off by {worst:.3g} nm; 1e-6 nm was allowed")


if __name__ == "__main__":
    main()
