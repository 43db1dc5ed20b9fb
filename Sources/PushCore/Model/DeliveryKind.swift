/// How a delivery gets its messages.
public enum DeliveryKind: String, Sendable, Hashable, Codable, CaseIterable {
    /// Its target is frozen when it is prepared.
    case batch
    /// Messages are added to it one by one until it is stopped; those of a day belong to a delivery of that day.
    case continuous
}
