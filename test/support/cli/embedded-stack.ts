/** A stack in its own directory, whose services are the embedded one. */
import { documentsText, stackText } from '../rig/stack-folder.ts';
import { temporaryFolder } from '../rig/temporary-folder.ts';
import { role, workspace } from './documents.ts';

/** @param more further members of `spec`. @returns the directory of the stack, which has two targets */
export function embeddedStack(more: object = {}, dialect = 'neutral'): string {
  const targets = [
    {
      name: 'acme',
      service: 'workspaces',
      url: 'embedded',
      organization: 'acme',
      dialect,
    },
    { name: 'prod', service: 'cluster-auth', url: 'embedded', mount: 'cluster' },
  ];
  return temporaryFolder({
    'trueup.yaml': stackText({ targets, manifests: ['manifests/*.yaml'], spec: more }),
    'manifests/all.yaml': documentsText([workspace('app', { tags: { env: 'prod' } }), role('web')]),
  });
}
