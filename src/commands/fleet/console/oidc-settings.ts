/** How the console logs users in itself, with OpenID Connect: `spec.console.oidc` of `fleet.yaml`. */
import { type Static, Type } from 'typebox';
import { closed, text } from '../../../manifest/schema/place-schemas.ts';
import { quoted } from '../../../model/quoted.ts';
import { type NamedRepository, readableVariables } from '../apply/settings.ts';
import { workerSecret } from '../apply/places.ts';

/** Codes and sessions must not cross a network in plain text. */
const secureOrigin = '(?:https://[^\\s/?#@]+|http://(?:localhost|127\\.[0-9.]+|\\[::1\\])(?::[0-9]{1,5})?)';

export const oidcSchema = Type.Object(
  {
    issuer: Type.String({
      format: 'uri',
      pattern: `^${secureOrigin}(?:/[^\\s?#]*)?$`,
      patternErrorMessage: 'an address that begins with https://, or with http:// on this machine',
      description: 'Address of the issuer, as it writes it in "iss" of its tokens',
      examples: ['https://login.example.com'],
    }),
    clientId: Type.String({
      pattern: '^[ -~]+$',
      patternErrorMessage: 'printable ASCII characters',
      description: 'Id of the console at the issuer',
      examples: ['trueup-fleet'],
    }),
    clientSecret: Type.Optional(
      workerSecret('Secret of the console at the issuer; none for a public client', 'CONSOLE_CLIENT_SECRET'),
    ),
    url: Type.String({
      format: 'uri',
      pattern: `^${secureOrigin}/?$`,
      patternErrorMessage: 'an origin that begins with https://, or with http:// on this machine',
      description:
        'Address at which browsers find the console. The issuer sends users back to /login/callback there',
      examples: ['https://fleet.example.com'],
    }),
    sessionKey: workerSecret(
      'Key of sessions: at least 32 bytes, the same for all workers with a console',
      'CONSOLE_SESSION_KEY',
    ),
    groupsClaim: Type.Optional({
      ...text('Claim of the ID token with the groups of the user; groups if not given', 'roles'),
    }),
    userClaim: Type.Optional({
      ...text(
        'Claim of the ID token with the name of the user; email if not given, else sub',
        'preferred_username',
      ),
    }),
    scopes: Type.Optional(
      Type.Array(
        Type.String({
          pattern: '^[!#-\\[\\]-~]+$',
          patternErrorMessage: 'a scope: printable ASCII characters without spaces, quotes and "\\"',
        }),
        {
          description:
            'Scopes besides openid; profile, email and, where the issuer lists it, groups if not given',
          examples: [['email', 'groups']],
        },
      ),
    ),
  },
  { ...closed, description: 'How the console logs users in itself, with OpenID Connect' },
);

export type OidcSettings = Static<typeof oidcSchema>;

interface Mistake {
  /** below `oidc` */
  readonly path: readonly string[];
  readonly message: string;
}

/** Mistakes in the settings. Stacks must not read the secrets: with them, one can pretend to be any user of the console. */
export function oidcMistakes(
  oidc: OidcSettings | undefined,
  repositories: readonly NamedRepository[],
): Mistake[] {
  if (oidc === undefined) return [];
  const { clientSecret, sessionKey } = oidc;
  const secrets = [['clientSecret', clientSecret?.env] as const, ['sessionKey', sessionKey.env] as const];
  const granted = secrets.flatMap(([member, variable]) => {
    const granting = repositories.find((one) => readableVariables(one).some((name) => name === variable));
    return granting === undefined
      ? []
      : [
          {
            path: [member, 'env'],
            message: `the stacks of repository ${quoted(granting.name)} may read ${quoted(`${variable}`)}: the console needs a secret of its own`,
          },
        ];
  });
  const document = '/.well-known/openid-configuration';
  const isShared = clientSecret?.env === sessionKey.env;
  return [
    ...granted,
    ...(oidc.issuer.endsWith(document)
      ? [
          {
            path: ['issuer'],
            message: `this is the address of a document of the issuer: remove ${quoted(document)}`,
          },
        ]
      : []),
    ...(isShared
      ? [
          {
            path: ['sessionKey', 'env'],
            message: `${quoted(sessionKey.env)} is the secret of the client, which the issuer knows: use another variable`,
          },
        ]
      : []),
  ];
}

/** Bytes of a session key, at least. */
const keyBytes = 32;

/** Why the variables cannot be used; undefined when they can. */
export function secretsProblem(
  { clientSecret, sessionKey }: OidcSettings,
  secret: (variable: string) => string | undefined,
): string | undefined {
  const missing = [clientSecret?.env, sessionKey.env].find(
    (name) => name !== undefined && secret(name) === undefined,
  );
  if (missing !== undefined) return `the environment variable ${quoted(missing)} is not set`;
  if (Buffer.byteLength(secret(sessionKey.env) ?? '') < keyBytes)
    return `the key of sessions in ${quoted(sessionKey.env)} is shorter than ${keyBytes} bytes`;
  if (clientSecret !== undefined && !/^[ -~]+$/.test(secret(clientSecret.env) ?? ''))
    return `the client secret in ${quoted(clientSecret.env)} has characters that are not printable ASCII`;
  return undefined;
}
