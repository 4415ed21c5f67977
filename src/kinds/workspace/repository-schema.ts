/** The schema of `vcsRepo`, the repository of a workspace, and of a field that is on or off. */
import { Type } from 'typebox';
import { nullable } from '../../model/nullable.ts';

export const flag = (description: string, fallback: boolean) =>
  Type.Optional(nullable(Type.Boolean({ description: `${description} null: ${fallback}.` })));

export const vcsRepo = Type.Optional(
  nullable(
    Type.Object(
      {
        identifier: Type.Optional(
          Type.String({
            minLength: 1,
            description: 'The repository: ":org/:repo", or the format of the VCS provider.',
            examples: ['acme/network'],
          }),
        ),
        branch: Type.Optional(
          nullable(
            Type.String({
              description:
                'The branch that runs execute from. "" or null: the default branch of the repository.',
              examples: ['main'],
            }),
          ),
        ),
        ingressSubmodules: flag('Whether submodules are fetched.', false),
        oauthTokenId: Type.Optional(
          Type.String({
            minLength: 1,
            description: 'Id of the VCS connection. Not allowed together with vcsAppInstallationId.',
            examples: ['ot-1'],
          }),
        ),
        connection: Type.Optional(
          Type.String({
            minLength: 1,
            description:
              'Name of the VCS connection (OAuth client), in place of oauthTokenId. Not allowed together with vcsAppInstallationId.',
            examples: ['code host'],
          }),
        ),
        vcsAppInstallationId: Type.Optional(
          Type.String({
            minLength: 1,
            description:
              'Id of the app installation to connect through. Not allowed together with oauthTokenId.',
            examples: ['ghain-1'],
          }),
        ),
        tagsRegex: Type.Optional(
          nullable(
            Type.String({
              description:
                'A regular expression: a run starts when a matching tag is pushed. Needs fileTriggersEnabled false. "" or null: none.',
              examples: ['^v\\d+\\.\\d+\\.\\d+$'],
            }),
          ),
        ),
      },
      {
        additionalProperties: false,
        minProperties: 1,
        description:
          'The repository that runs come from. Fields that are left out keep their live values; adding a repository needs identifier and a connection (connection, oauthTokenId or vcsAppInstallationId). null: no repository.',
        examples: [{ identifier: 'acme/network', oauthTokenId: 'ot-1', branch: 'main' }],
      },
    ),
  ),
);
