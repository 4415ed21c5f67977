/** The part of a stack that a run is about: what `--select` says, or what a plan file was made for. */
import { formatAddress } from '../../model/address.ts';
import type { Plan } from '../../model/plan.ts';
import { CommandStop } from '../command-stop.ts';
import type { ChoosePart, PartInput } from '../prepare-run.ts';
import { findChanged } from './changed-since.ts';
import { selectDeclared, targetsOf } from './select-declared.ts';
import { readSelectors } from './selectors.ts';

/**
 * @param select the values of `--select`
 * @param saved the plan of the plan file that is applied
 * @returns undefined for a run on the whole stack
 * @throws CommandStop when both are given, or a selector cannot be read
 */
export function choosePart(select: readonly string[] | undefined, saved?: Plan): ChoosePart | undefined {
  if (select === undefined || select.length === 0)
    return saved?.part === undefined ? undefined : savedPart(saved);
  if (saved !== undefined)
    throw new CommandStop(
      'usage',
      saved.part === undefined
        ? 'the plan file is not of a part, so "--select" does not fit: plan the part with "trueup plan --select", and apply the file of that plan'
        : 'the plan file says what was selected: apply it without "--select"',
    );
  const selectors = readSelectors(select);
  const texts = [...new Set(select)].sort();
  return async (input) => {
    refuseInput(input);
    const { stack, resources, host, signal } = input;
    const changedSince = await findChanged(selectors, { stack, resources, host, signal });
    const { kinds, cwd } = host;
    const declared = { resources, kinds, directory: stack.directory, cwd, changedSince };
    const chosen = selectDeclared(selectors, declared);
    return { ...chosen, selectors: texts, targets: targetsOf(chosen.selected, declared) };
  };
}

/** The same resources as when the plan was made; one that is no longer declared is missing, so that the plan no longer fits. */
function savedPart({ part, selection = [] }: Plan): ChoosePart {
  return async (input) => {
    refuseInput(input);
    const { resources, host } = input;
    const declared = new Set(resources.map(({ address }) => formatAddress(address)));
    const selected = new Set(selection.filter((text) => declared.has(text)));
    return {
      selectors: part?.selectors ?? [],
      selected,
      excluded: new Set(),
      targets: targetsOf(selected, { resources, kinds: host.kinds }),
      begun: new Set(part?.along.map(({ address }) => address)),
    };
  };
}

function refuseInput({ isSelection }: PartInput): void {
  if (isSelection)
    throw new CommandStop(
      'usage',
      'manifests on standard input are a selection already: leave out "-" or "--select", or say with "--complete" that they are the whole stack',
    );
}
