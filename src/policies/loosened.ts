/**
 * What a change of the files of policies loosens. Whether one rule is stricter than another cannot be decided, so each change of a rule,
 * or of what it is about, counts; what held before holds for the plan as well.
 */
import { hasErrors } from '../model/diagnostic.ts';
import type { LoosenedSetting } from '../model/guard.ts';
import type { Policy, Severity } from '../model/policy.ts';
import type { PolicySource, PolicyText } from '../model/policy-source.ts';
import { quoted } from '../model/quoted.ts';
import { isNewExemption } from './exemptions.ts';
import { policiesIn, type PolicyContext } from './load-policies.ts';

export interface LoosenedPolicies {
  readonly loosened: readonly LoosenedSetting[];
  /** what held before */
  readonly sources: readonly PolicySource[];
}

/** @param commit of the texts before */
export function loosenedPolicies(
  texts: { readonly before: readonly PolicyText[]; readonly after: readonly PolicyText[] },
  commit: string,
  context: Pick<PolicyContext, 'kinds' | 'now'>,
): LoosenedPolicies {
  if (texts.before.length === 0) return { loosened: [], sources: [] };
  const [before, after] = [policiesIn(texts.before, context), policiesIn(texts.after, context)];
  if (hasErrors(before.diagnostics)) {
    const name = 'the files of "spec.policies"';
    const unknown = 'policies that are not valid';
    return {
      loosened: [{ name, before: unknown, after: 'policies that were compared with nothing' }],
      sources: [],
    };
  }
  const loosened = before.policies.flatMap((policy) =>
    loosenedBy(
      policy,
      after.policies.find(({ name }) => name === policy.name),
    ),
  );
  const source: PolicySource = { texts: texts.before, commit, earlier: true };
  return { loosened, sources: loosened.length === 0 ? [] : [source] };
}

const strength: Readonly<Record<Severity, number>> = { warn: 0, confirm: 1, deny: 2 };

function loosenedBy(before: Policy, after: Policy | undefined): LoosenedSetting[] {
  const of = `the policy ${quoted(before.name)}`;
  if (after === undefined) return [{ name: of, before: before.severity, after: 'nothing' }];
  const about = ({ match }: Policy) => JSON.stringify(match);
  const added = after.exemptions.filter((one) => isNewExemption(one, before.exemptions));
  return [
    ...(strength[after.severity] < strength[before.severity]
      ? [{ name: `the severity of ${of}`, before: before.severity, after: after.severity }]
      : []),
    ...(after.rule === before.rule
      ? []
      : [{ name: `the rule of ${of}`, before: clipped(before.rule), after: clipped(after.rule) }]),
    ...(about(after) === about(before)
      ? []
      : [{ name: `the match of ${of}`, before: clipped(about(before)), after: clipped(about(after)) }]),
    ...(added.length === 0
      ? []
      : [
          {
            name: `the list of exemptions of ${of}`,
            before: `${before.exemptions.length} of them`,
            after: clipped(
              added
                .map(({ resource, until }) => `one more for ${quoted(resource)} until ${until}`)
                .join(', '),
            ),
          },
        ]),
  ];
}

function clipped(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > 200 ? `${line.slice(0, 200)}…` : line;
}
