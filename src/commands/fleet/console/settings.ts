/** Who may see what in the web console of a fleet: `spec.console` of `fleet.yaml`. */
import { type Static, Type } from 'typebox';
import { closed, text } from '../../../manifest/schema/place-schemas.ts';
import { oidcSchema } from './oidc-settings.ts';

const header = (description: string, example: string) =>
  Type.String({
    pattern: '^[A-Za-z0-9-]{1,60}$',
    patternErrorMessage: 'the name of a header, such as X-Forwarded-User',
    description,
    examples: [example],
  });

const network = Type.String({
  // Whether such a network exists is checked when the file is read.
  pattern: '^[0-9A-Fa-f:.]+(/[0-9]{1,3})?$',
  patternErrorMessage: 'an address or a network such as 10.0.0.0/8',
});

const Team = Type.Object(
  {
    groups: Type.Array(text('Name of a group, as the proxy or the issuer sends it', 'platform-readers'), {
      minItems: 1,
      description: 'Groups whose members are in the team',
    }),
    stacks: Type.Array(
      Type.String({ pattern: '^[^!]', patternErrorMessage: 'a pattern without "!" in front' }),
      {
        minItems: 1,
        description:
          'Stacks that the team sees, as patterns of REPOSITORY/PATH: "*" matches a part of a name, "**" any path',
        examples: [['platform/teams/network/**']],
      },
    ),
  },
  { ...closed, description: 'A team that reads the console' },
);

export const consoleSchema = Type.Object(
  {
    trustedHeader: Type.Optional(
      Type.Object(
        {
          user: header('Header with the name of the user', 'X-Forwarded-User'),
          groups: header(
            'Header with the groups of the user, with commas between them',
            'X-Forwarded-Groups',
          ),
          proxies: Type.Array(network, {
            minItems: 1,
            description: 'Addresses of the proxies whose headers count. All other callers are refused',
            examples: [['10.0.0.0/24']],
          }),
        },
        { ...closed, description: 'How a proxy that logs users in says who they are' },
      ),
    ),
    oidc: Type.Optional(oidcSchema),
    hosts: Type.Optional(
      Type.Array(text('Name of a host', 'fleet.example.com'), {
        description: 'Names under which callers on this machine may ask for the console, besides localhost',
      }),
    ),
    teams: Type.Record(Type.String(), Team, {
      description: 'Who sees which stacks. A user in no team sees nothing',
    }),
  },
  {
    ...closed,
    oneOf: [{ required: ['trustedHeader'] }, { required: ['oidc'] }],
    description: 'Who may read the console of "trueup fleet serve"; only callers on its machine if not given',
  },
);

export type ConsoleSettings = Static<typeof consoleSchema>;
