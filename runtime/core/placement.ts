/** Where the layers of an open model are. */
export interface LayerPlacement {
  layers: number;
  /** Of them, those on GPUs. */
  gpu_layers: number;
  /** Experts of mixtures stay in RAM. */
  experts_in_ram: boolean;
  /** `32 of 80 layers on the GPU`. */
  text: string;
}
