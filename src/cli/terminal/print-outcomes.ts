/** The end of an apply: what came of each change, and whether the plan that was made afterwards is empty. */
import type { Outcome } from '../../model/plan/outcome.ts';
import type { Plan } from '../../model/plan/plan.ts';
import { renderOutcomesJson } from '../../report/json/outcomes-json.ts';
import { countOutcomes, renderOutcomes, stepAfterApply } from '../../report/terminal/outcomes-text.ts';
import { renderUnconverged, withoutReported } from '../../report/terminal/unconverged-text.ts';
import { printJson, printWarnings, type Terminal, textOutput } from './terminal.ts';

/** @param proof the plan that was made afterwards; absent when there was nothing to prove */
export function printOutcomes(
  terminal: Terminal,
  outcomes: readonly Outcome[],
  proof: Plan | undefined,
): void {
  printJson(terminal, (reported) => renderOutcomesJson(outcomes, reported));
  terminal.pending.outcomes = countOutcomes(outcomes);
  const output = textOutput(terminal);
  for (const block of endingBlocks(outcomes, terminal, proof)) output?.write(`\n${block}\n`);
  printWarnings(terminal, proof?.problems ?? []);
}

/** The blocks of text at the end. When each outcome has been printed already, only those that need attention are repeated. */
function endingBlocks(outcomes: readonly Outcome[], terminal: Terminal, proof: Plan | undefined): string[] {
  const { paint, width, host } = terminal;
  if (outcomes.length === 0) return [];
  const blocks = [renderOutcomes(outcomes, { paint, openOnly: !host.stdout.isTTY })];
  if (proof === undefined) return [...blocks, stepAfterApply(outcomes, undefined)];
  const residue = renderUnconverged(withoutReported(proof, outcomes), {
    paint,
    ...(width === undefined ? {} : { width }),
  });
  if (residue !== '') return [...blocks, residue, stepAfterApply(outcomes, 'not-empty')];
  const nothingLeft = proof.changes.length === 0 && proof.problems.length === 0;
  if (!nothingLeft) return [...blocks, stepAfterApply(outcomes, 'not-empty')];
  return [...blocks, 'Planned again: nothing is left to do', stepAfterApply(outcomes, 'empty')];
}
