/** The schema of a Project's spec: the source of its type and of the JSON Schema for editors. */
import { type Static, Type } from 'typebox';
import type { Declared, Named } from '../../model/kind-specs.ts';
import { nullable } from '../../model/nullable.ts';

export const projectSpec = Type.Object(
  {
    description: Type.Optional(
      nullable(
        Type.String({
          description: 'What the project is for. "" or null: none.',
          examples: ['Everything of the payments team'],
        }),
      ),
    ),
    defaultExecutionMode: Type.Optional(
      nullable(
        Type.Enum(['remote', 'local', 'agent'], {
          type: 'string',
          description:
            'Where runs of its workspaces execute, if these have no mode of their own. null: inherited from the organization.',
        }),
      ),
    ),
    defaultAgentPoolId: Type.Optional(
      nullable(
        Type.String({
          minLength: 1,
          description:
            'Id of the agent pool for its workspaces. Required with defaultExecutionMode "agent", not allowed with any other. null: none.',
          examples: ['apool-1'],
        }),
      ),
    ),
    defaultAgentPool: Type.Optional(
      nullable(
        Type.String({
          minLength: 1,
          description: 'Name of that agent pool, in place of defaultAgentPoolId. null: none.',
          examples: ['linux'],
        }),
      ),
    ),
    autoDestroyActivityDuration: Type.Optional(
      nullable(
        Type.String({
          description:
            'After how long without activity the resources of its workspaces are destroyed: 1 to 9999 and the unit "d" or "h", such as "14d". It acts on every workspace in it that has no duration or time of its own. null: none.',
          examples: ['14d'],
        }),
      ),
    ),
    tags: Type.Optional(
      Type.Unsafe<Record<string, string | null> | null>({
        type: ['object', 'null'],
        additionalProperties: { type: ['string', 'null'] },
        description:
          'Key-value tags, all that are bound to the project itself; its workspaces inherit them. At most nine; the tenth is the ownership tag of trueup. null: {}.',
        examples: [{ team: 'payments' }],
      }),
    ),
  },
  {
    additionalProperties: false,
    description:
      'One project. A field that is left out is not managed; null asks for the default of the service.',
    examples: [
      {
        description: 'Everything of the payments team',
        defaultExecutionMode: 'agent',
        defaultAgentPool: 'linux',
        tags: { team: 'payments' },
      },
    ],
  },
);

export type ProjectSpec = Declared<Static<typeof projectSpec>>;

/** The same fields with values that were not validated: of a live, recorded or canonical project. */
export type ProjectFields = Named<ProjectSpec>;
