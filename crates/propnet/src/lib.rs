//! Ground program to network of gates to scalar and lane-parallel simulators.
