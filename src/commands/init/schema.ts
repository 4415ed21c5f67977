/** The schema of `init --format json`; `schemas/init.schema.json` is generated from it. Members may be added. */
import { Type } from 'typebox';
import { closed, count, diagnosticSchema } from '../../report/json/plan-schema.ts';

const file = Type.Object(
  {
    path: Type.String({ description: 'relative to the working directory' }),
    is: Type.Enum(['new', 'extended'], {
      type: 'string',
      description: 'extended: lines were added to a file that existed',
    }),
    text: Type.Optional(Type.String({ description: 'with --dry-run: the whole text' })),
  },
  closed,
);

const overview = Type.Object(
  {
    target: Type.String(),
    facts: Type.Array(Type.Object({ about: Type.String(), is: Type.String() }, closed), {
      description: 'for people: places, owners, and what the token may do',
    }),
    resources: Type.Record(Type.String(), count, { description: 'how many there are, by kind' }),
    unowned: count,
    owned: Type.Record(Type.String(), count, {
      description: 'how many have an owner, by a clause about it, such as: claimed by stack "other"',
    }),
    unread: Type.Array(Type.String(), { description: 'why something could not be read' }),
  },
  closed,
);

export const initSchema = Type.Object(
  {
    version: Type.Literal(1),
    stack: Type.String({ description: 'name of the stack' }),
    directory: Type.String({ description: 'relative to the working directory' }),
    written: Type.Boolean({ description: 'false with --dry-run' }),
    files: Type.Array(file),
    token: Type.Optional(
      Type.Object(
        { env: Type.Optional(Type.String()), file: Type.Optional(Type.String()) },
        { ...closed, description: 'where the stack reads the token from; missing for the embedded service' },
      ),
    ),
    exportLine: Type.Optional(Type.String({ description: 'a shell line that sets the variable' })),
    notes: Type.Array(Type.String(), { description: 'tokens that were found and are not used' }),
    dialectNote: Type.Optional(Type.String({ description: 'which dialect the target has, and why' })),
    targets: Type.Array(overview, { description: 'empty when init did not connect' }),
    exported: Type.Boolean({ description: 'whether manifests were written for what exists' }),
    diagnostics: Type.Optional(Type.Array(diagnosticSchema)),
  },
  { ...closed, $id: 'https://trueup.dev/schemas/init.schema.json', title: 'trueup init' },
);
