"""The highest load that keeps a contract, the safe load, and the knee of the curve."""
