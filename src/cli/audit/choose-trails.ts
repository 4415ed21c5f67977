/** Chooses the targets whose trails a command is about, and names their trails in an archive. */
import type { DiagnosticCode } from '../../model/diagnostic-codes.ts';
import { formatIdentity, identityOf } from '../../model/stack/target-identity.ts';
import type { Stack, Target } from '../../model/stack/target.ts';
import { quoted } from '../../model/quoted.ts';
import { auditedTargets } from '../run/connect-audit.ts';

interface Mistake {
  readonly code: DiagnosticCode;
  readonly message: string;
}

/**
 * @param wanted the target that was named on the command line; all when absent
 * @param options.live whether the services are asked, which takes a token
 */
export function chooseTrails(
  stack: Stack,
  wanted: string | undefined,
  { live }: { readonly live: boolean },
): readonly Target[] | Mistake {
  const known = stack.targets.filter(({ service }) => service === 'workspaces');
  const named = wanted === undefined ? known : known.filter(({ name }) => name === wanted);
  if (wanted !== undefined && named.length === 0)
    return {
      code: 'unknown-target',
      message: `stack ${quoted(stack.name)} has no target ${quoted(wanted)} of service "workspaces", which alone has an audit trail`,
    };
  const audited = auditedTargets({ targets: named });
  if (!live || audited.length > 0) return live ? audited : named;
  const which = wanted === undefined ? 'no target' : `target ${quoted(wanted)}`;
  return {
    code: 'no-audit-token',
    message:
      `${which}${wanted === undefined ? ` of stack ${quoted(stack.name)} has an` : ' has no'} "auditToken": add "auditToken: { env: NAME }" in ${stack.file}, ` +
      `best with a token that was made for audit trails`,
  };
}

/** The name of a target's trail in an archive: a target may be called otherwise in another stack (rule 37). */
export function trailOf(target: Target): string {
  return formatIdentity(identityOf(target));
}
