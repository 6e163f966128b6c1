import { ownPackage } from '../runtime/boot/own-package.js';

export const { folder: PACKAGE, version: VERSION } = ownPackage(import.meta.dirname);
