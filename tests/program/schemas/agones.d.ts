// SPDX-License-Identifier: MIT
// agones.d.ts: what Agones reads (agones.dev/site/docs/reference/agones_crd_api_reference), field by field; pods are Kubernetes's.
import { IPodTemplateSpec } from "kubernetes-models/v1";
import { IObjectMeta } from "@kubernetes-models/apimachinery/apis/meta/v1/ObjectMeta";

type Texts = { [key: string]: string };
type Scheduling = "Packed" | "Distributed";
interface Marks { labels?: Texts; annotations?: Texts }
interface Priority { type: "Counter" | "List"; key: string; order?: "Ascending" | "Descending" }

interface GameServerSpec {
  container?: string;
  ports?: {
    name?: string; range?: string; portPolicy?: "Dynamic" | "Static" | "Passthrough" | "None"; container?: string;
    containerPort?: number; hostPort?: number; protocol?: "UDP" | "TCP" | "TCPUDP";
  }[];
  health?: { disabled?: boolean; periodSeconds?: number; failureThreshold?: number; initialDelaySeconds?: number };
  scheduling?: Scheduling;
  sdkServer?: { logLevel?: "Info" | "Debug" | "Error" | "Trace"; grpcPort?: number; httpPort?: number };
  counters?: { [key: string]: { count?: number; capacity?: number } };
  lists?: { [key: string]: { capacity?: number; values?: string[] } };
  eviction?: { safe: "Always" | "OnUpgrade" | "Never" };
  template: IPodTemplateSpec;
}

export interface IFleet {
  apiVersion: "agones.dev/v1"; kind: "Fleet"; metadata: IObjectMeta;
  spec: {
    replicas?: number; scheduling?: Scheduling; priorities?: Priority[]; allocationOverflow?: Marks;
    strategy?: { type?: "Recreate" | "RollingUpdate"; rollingUpdate?: { maxSurge?: number | string; maxUnavailable?: number | string } };
    template: { metadata?: Marks; spec: GameServerSpec };
  };
}

export interface IFleetAutoscaler {
  apiVersion: "autoscaling.agones.dev/v1"; kind: "FleetAutoscaler"; metadata: IObjectMeta;
  spec: {
    fleetName: string;
    policy: {
      type: "Buffer" | "Counter" | "List";
      buffer?: { bufferSize: number | string; minReplicas?: number; maxReplicas: number };
      counter?: { key: string; bufferSize: number | string; minCapacity?: number; maxCapacity: number };
      list?: { key: string; bufferSize: number | string; minCapacity?: number; maxCapacity: number };
    };
    sync?: { type: "FixedInterval"; fixedInterval: { seconds: number } };
  };
}

interface Available { minCount?: number; maxCount?: number; minAvailable?: number; maxAvailable?: number }
export interface IGameServerAllocation {
  apiVersion: "allocation.agones.dev/v1"; kind: "GameServerAllocation"; metadata?: IObjectMeta;
  spec: {
    selectors?: {
      matchLabels?: Texts; matchExpressions?: { key: string; operator: "In" | "NotIn" | "Exists" | "DoesNotExist"; values?: string[] }[];
      gameServerState?: "Ready" | "Allocated"; counters?: { [key: string]: Available };
      lists?: { [key: string]: { containsValue?: string; minAvailable?: number; maxAvailable?: number } };
    }[];
    priorities?: Priority[]; scheduling?: Scheduling; metadata?: Marks;
    counters?: { [key: string]: { action?: "Increment" | "Decrement"; amount?: number; capacity?: number } };
    lists?: { [key: string]: { addValues?: string[]; deleteValues?: string[]; capacity?: number } };
  };
}
