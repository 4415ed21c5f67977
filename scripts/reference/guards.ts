/** docs/reference/guards.md */
import { type BuiltInGuard, guardDefaults, guardLimits } from '../../src/model/guard.ts';
import { guardTexts } from '../../src/model/guard-texts.ts';
import { anchor, blocks, header, plain, table, withCode } from './page.ts';

const effects = { blocks: 'Blocks by default.', warns: 'Warns by default.' } as const;

const head = `A guard asks somebody to read a risky part of a plan before it is applied.

- A guard that **blocks** stops \`apply\` with [exit code](exit-codes.md) 5 until it is acknowledged. Nothing is written.
- A guard that **warns** is only shown.
- A guard that **denies** stops \`apply\`, and cannot be acknowledged. Only a [policy](../guides/policies.md) can deny. The guard of a policy is called \`policy/\` and its name.

Guards are at the top of every report, with their numbers and the resources that they are about. \`plan\` shows them and exits as it does without
them. They are not part of the digest of the plan.`;

const acknowledging = `## Acknowledge a guard

Name the guards together with the digest of the plan, or with the plan file:

\`\`\`sh
trueup plan                                                  # its summary ends with the next command
trueup apply --approve 8c3ef603131e0752b6e0217c89631890 --ack deletes,rename
trueup apply plan.json --ack deletes,rename                  # after trueup plan --out plan.json
\`\`\`

An acknowledgement is valid for that digest only. If the plan has changed by then, apply exits with 4. \`--ack\` together with \`--yes\` alone is an
error. In a terminal, apply asks you to type the names of the guards.

The JSON of a plan has the names in \`acknowledge\`, and each guard in \`guards\`.

An interrupted apply continues with the guards that were acknowledged when it began. A guard that blocks only now must be acknowledged too.
\`older-commit\`, \`diverged-commit\` and \`commit-unknown\` must be acknowledged each time.

## Change guards in a stack

\`\`\`yaml
spec:
  guards:
    maxDeletes: ${guardLimits.maxDeletes}            # 0: every deletion must be acknowledged
    maxDeletePercent: ${guardLimits.maxDeletePercent}
    maxUpdatePercent: ${guardLimits.maxUpdatePercent}
    raise: [new-role]        # warns by default, blocks in this stack
    allow: [recreate]        # blocks by default, only warns in this stack
\`\`\`

The numbers are the defaults. A guard in \`allow\` is still shown in each plan.

## How resources are counted

Deletes and updates are counted for each kind in each target, so that a kind with ten resources cannot hide behind one with a thousand. Deletes
are also counted for each target and for the whole plan.

- Releases, and the removal of a \`TagBindings\` or \`RemoteStateConsumers\` document, count as deletes.
- Adoptions and creations count as neither. The children of a deleted workspace are not counted separately.
- A change of \`protect\` or \`onRemove\` that only the ledger keeps does not count as an update.
- Percentages are of what the stack owned before. Also in a selection, or in [a part of the stack](../guides/many-stacks.md#a-part-of-a-stack), they are of the whole stack.
- What parts and selections have deleted within 24 hours counts as well, if the plan deletes something itself.

## Changes of access

trueup compares access as a whole, before and after. Each change says who **gains** or **loses** what, for example:
\`"ci" in "payments" can log in and gets the policies "write", "default"\`. A change that only narrows access trips no guard.

Values that a workspace inherits from a new project are part of its change and of the digest.`;

export function guardsPage(): string {
  const entries = Object.entries(guardDefaults).map(
    ([id, effect]) => ({ id, effect, ...guardTexts[id as BuiltInGuard] }) as const,
  );
  return blocks(
    header('src/model/guard-texts.ts'),
    '# Guards',
    head,
    table(
      ['guard', 'default', 'what it is about'],
      entries.map(({ id, effect, title }) => [`[\`${id}\`](#${anchor(id)})`, effect, title]),
    ),
    acknowledging,
    '## All guards',
    entries.flatMap(({ id, effect, title, trips, more = [], check }) => [
      `### ${id}`,
      `**${title}.** ${effects[effect]}`,
      ...[trips, ...more].map((paragraph) => plain(withCode(paragraph))),
      `Before you acknowledge it: ${plain(withCode(check))}.`,
    ]),
  );
}
