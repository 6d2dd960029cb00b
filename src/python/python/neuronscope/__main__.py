"""``python -m neuronscope SCRIPT ARGS``: runs a script of the Neuron SDK on the simulated device."""

from .script import main

raise SystemExit(main())
