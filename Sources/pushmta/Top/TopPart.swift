/// Figures that are read together, each at its own pace.
enum TopPart: Sendable, Hashable, CaseIterable {
    case processes, queues, deliveries, alarms
}
