import { ownPackage } from '../runtime/own-package.js';

export const { folder: PACKAGE, version: VERSION } = ownPackage(import.meta.dirname);
