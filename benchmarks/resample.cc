// OpenSpiel's ISMCTSBot with samplers of information sets that OpenSpiel does not have.
//
// `trees.py` compiles this file against the headers and the library of the Python package open_spiel, whose Python
// interface cannot set a sampler.

#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "open_spiel/algorithms/is_mcts.h"
#include "open_spiel/algorithms/mcts.h"
#include "open_spiel/spiel.h"

namespace {

using open_spiel::Action;
using open_spiel::Player;
using open_spiel::State;

// The same history with other private dice of the other players. It is exact where no bid was made.
std::unique_ptr<State> RollOthers(const State& state, Player player, std::function<double()> rng) {
  auto history = state.FullHistory();
  auto sampled = state.GetGame()->NewInitialState();
  const int dice = sampled->GetGame()->MaxChanceNodesInHistory() / state.NumPlayers();
  int number = 0;
  for (const auto& step : history) {
    Action action = step.action;
    if (sampled->IsChanceNode() && number++ / dice != player) {
      action = open_spiel::SampleAction(sampled->ChanceOutcomes(), rng()).first;
    }
    sampled->ApplyAction(action);
  }
  return sampled;
}

// The state itself. It is exact where the player knows the state, as at the first move of Phantom Tic-Tac-Toe.
std::unique_ptr<State> Copy(const State& state, Player, std::function<double()>) { return state.Clone(); }

double Seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

}  // namespace

// Simulations a CPU second from the first decision on. Samplers: 0 is the game's own, 1 rolls the others' dice, 2
// copies the state.
extern "C" double simulations_per_second(const char* name, int simulations, double seconds, int sampler) {
  auto game = open_spiel::LoadGame(name);
  auto state = game->NewInitialState();
  std::mt19937 rng(1);
  while (state->IsChanceNode()) {
    state->ApplyAction(open_spiel::SampleAction(state->ChanceOutcomes(), rng).first);
  }
  double done = 0;
  const double started = Seconds();
  for (int seed = 0; Seconds() - started < seconds; ++seed) {
    auto evaluator = std::make_shared<open_spiel::algorithms::RandomRolloutEvaluator>(1, seed);
    open_spiel::algorithms::ISMCTSBot bot(seed, evaluator, 1.4, simulations,
                                          open_spiel::algorithms::kUnlimitedNumWorldSamples,
                                          open_spiel::algorithms::ISMCTSFinalPolicyType::kMaxVisitCount, false, false);
    if (sampler == 1) bot.SetResampler(RollOthers);
    if (sampler == 2) bot.SetResampler(Copy);
    bot.Step(*state);
    done += simulations;
  }
  return done / (Seconds() - started);
}
