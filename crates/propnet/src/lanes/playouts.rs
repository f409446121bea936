//! Whole random games, as many as asked for, on any number of threads.
