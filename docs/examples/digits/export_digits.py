"""Writes data/digits.npz from the copy of the data set that scikit-learn ships. Not needed for training."""
import numpy as np
from sklearn.datasets import load_digits

digits = load_digits()
np.savez("data/digits.npz", images=digits.images.astype(np.uint8), labels=digits.target.astype(np.uint8))
