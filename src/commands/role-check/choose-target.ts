/** Finds the target whose role is checked: the named one, or the only possible one. */
import { formatAddress } from '../../model/address.ts';
import { type DesiredResource, isDeclaration } from '../../model/resource.ts';
import type { Stack, Target } from '../../model/stack.ts';
import { quoted } from '../../model/quoted.ts';
import { CommandStop } from '../../run/command-stop.ts';
import { clusterAuthConfig } from '../../kinds/cluster-auth-config/index.ts';
import { CONFIG_NAME } from '../../kinds/cluster-auth-config/read.ts';
import { clusterAuthRole } from '../../kinds/cluster-auth-role/index.ts';
import { names } from '../../kinds/cluster-auth-role/fields.ts';
import { quotedList } from '../../kinds/cluster-auth-role/describe-access.ts';

/** What the manifests of a stack say about the role and the config of its mount. */
export interface ChosenRole {
  readonly target: Target;
  /** the name of the role as the service stores it */
  readonly name: string;
  readonly role?: DesiredResource | undefined;
  readonly config?: DesiredResource | undefined;
}

interface Manifests {
  readonly stack: Stack;
  readonly resources: readonly DesiredResource[];
}

/** @param wanted the target that was named on the command line. @throws CommandStop if there is none, or several are possible */
export function chooseTarget(
  { stack, resources }: Manifests,
  role: string,
  wanted: string | undefined,
): ChosenRole {
  if (!names.pattern.test(role))
    throw new CommandStop('unknown-role', `${quoted(role)} is not a name of a role: ${names.description}`);
  const name = names.fold(role);
  const targets = stack.targets.filter(({ service }) => service === clusterAuthRole.service);
  const declared = (target: string, kind = clusterAuthRole.name, called = name) =>
    resources.find(
      ({ address, metadata }) =>
        isDeclaration({ metadata }) &&
        formatAddress({ ...address, name: names.fold(address.name) }) ===
          formatAddress({ kind, target, name: called }),
    );
  const target = targetOf(targets, {
    wanted,
    role,
    declaring: targets.filter((each) => declared(each.name) !== undefined),
  });
  return {
    target,
    name,
    role: declared(target.name),
    config: declared(target.name, clusterAuthConfig.name, CONFIG_NAME),
  };
}

interface TargetChoice {
  readonly wanted: string | undefined;
  readonly role: string;
  /** the targets for which the manifests declare the role */
  readonly declaring: readonly Target[];
}

function targetOf(targets: readonly Target[], { wanted, role, declaring }: TargetChoice): Target {
  const known = quotedList(targets.map(({ name }) => name)) || 'none';
  if (wanted !== undefined) {
    const named = targets.find(({ name }) => name === wanted);
    if (named !== undefined) return named;
    throw new CommandStop(
      'unknown-target',
      `the stack has no target ${quoted(wanted)} with roles: it has ${known}`,
    );
  }
  const candidates = declaring.length > 0 ? declaring : targets;
  const [only, ...others] = candidates;
  if (only === undefined)
    throw new CommandStop(
      'unknown-target',
      'the stack has no target with roles: one is of the service "cluster-auth"',
    );
  if (others.length === 0) return only;
  const which = quotedList(candidates.map(({ name }) => name));
  const why =
    declaring.length > 0
      ? `role ${quoted(role)} is declared for ${which}`
      : `role ${quoted(role)} may be at ${which}`;
  throw new CommandStop('target-needed', `${why}: name one of them with --target`);
}
