"""An OpenAI-compatible server driven by the simulator in real time, to rehearse a trial before the hardware is there."""
