/** The targets of a manifest: those that it names, or the only one that serves its kind. */
import { isJsonObject, type Json, memberOf, type Path } from '../model/json.ts';
import type { Kind } from '../model/kind.ts';
import { nearestWord } from '../model/nearest-word.ts';
import { orList, quoted } from '../model/quoted.ts';
import type { Target } from '../model/stack.ts';
import { type Problem, quotedMasked } from './problem.ts';
import type { StackReading } from './read-stack.ts';

interface Choice {
  readonly targets: readonly Target[];
  readonly problems: readonly Problem[];
}

/** @param document as written: defaults do not name a target */
export function chooseTargets(
  { kind, value }: { readonly kind: Kind; readonly value: Json },
  stack: StackReading,
): Choice {
  const candidates = stack.targets.filter(({ service }) => service === kind.service);
  const named = namedTargets(memberOf(value, 'metadata'));
  const choices =
    named === undefined
      ? [onlyTarget(kind.name, kind.service, candidates)]
      : named.map(({ name, path }) => namedTarget(name, path, { stack, candidates, kind: kind.name }));
  return {
    targets: choices.flatMap(({ targets }) => targets),
    // an invalid target of the stack is reported there, and a name that is unknown here may be its name
    problems: stack.allTargets ? choices.flatMap(({ problems }) => problems) : [],
  };
}

interface Named {
  readonly name: string;
  readonly path: Path;
}

/** Undefined when the manifest names no target. */
function namedTargets(metadata: unknown): Named[] | undefined {
  const { target, targets } = isJsonObject(metadata as never) ? (metadata as Record<string, unknown>) : {};
  if (typeof target === 'string') return [{ name: target, path: ['metadata', 'target'] }];
  if (!Array.isArray(targets)) return undefined;
  return targets.flatMap((name, index) =>
    typeof name === 'string' ? [{ name, path: ['metadata', 'targets', `${index}`] }] : [],
  );
}

function onlyTarget(kind: string, service: string, candidates: readonly Target[]): Choice {
  const [first, second] = candidates;
  if (first !== undefined && second === undefined) return { targets: [first], problems: [] };
  const path = ['metadata', 'target'];
  if (first === undefined) {
    const message = `no target of the stack serves ${kind}`;
    const fix = `add a target of service ${quoted(service)} to the stack`;
    return { targets: [], problems: [{ code: 'no-target', path, side: 'key', message, fix }] };
  }
  const problem: Problem = {
    code: 'ambiguous-target',
    path,
    side: 'key',
    message: `several targets serve ${kind}, and "metadata.target" names none`,
    allowed: orList(candidates.map(({ name }) => quotedMasked(name))),
    fix: `add ${quoted(`target: ${first.name}`)} to "metadata", or another of them`,
  };
  return { targets: [], problems: [problem] };
}

function namedTarget(
  name: string,
  path: Path,
  { stack, candidates, kind }: { stack: StackReading; candidates: readonly Target[]; kind: string },
): Choice {
  const target = candidates.find((candidate) => candidate.name === name);
  if (target !== undefined) return { targets: [target], problems: [] };
  const other = stack.targets.find((candidate) => candidate.name === name);
  const names = candidates.map((candidate) => candidate.name);
  const meant = nearestWord(name, names);
  const problem: Problem = {
    code: other === undefined ? 'unknown-target' : 'wrong-service',
    path,
    message:
      other === undefined
        ? `the stack has no target ${quoted(name)}`
        : `target ${quoted(name)} is of service ${quoted(other.service)}, which does not serve ${kind}`,
    allowed: orList(names.map(quotedMasked)),
    fix: meant === undefined ? fixWithout(names) : `did you mean ${quoted(meant)}?`,
  };
  return { targets: [], problems: [problem] };
}

/** @param names of the targets that serve the kind */
function fixWithout(names: readonly string[]): string {
  const [only, ...more] = names;
  if (only === undefined) return 'add such a target to the stack';
  return more.length === 0 ? `write ${quoted(only)}, or leave "target" out` : 'name one of these';
}
