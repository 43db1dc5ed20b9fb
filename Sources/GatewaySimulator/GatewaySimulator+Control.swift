import PushCore

extension GatewaySimulator {
    /// The counters of all gateways now.
    public func counters() -> SimulatorCounters { core.counters }

    /// How often a message was accepted, by all gateways together. The id is a UUID in either case, the decimal of a `_mId`, or
    /// the FCM token of a message that had no `_mId`.
    public func occurrences(ofID id: String) -> Int {
        records(ofID: id).reduce(0) { $0 + $1.accepted }
    }

    /// How often a message was accepted, by all gateways together.
    public func occurrences(of id: MessageUUID) -> Int {
        let key = MessageKey(high: id.high, low: id.low)
        return SimulatedGateway.allCases.reduce(0) { $0 + (core.recorder($1).record(of: key)?.accepted ?? 0) }
    }

    /// What each gateway knows of a message.
    public func records(ofID id: String) -> [MessageRecord] {
        SimulatedGateway.allCases.compactMap { core.recorder($0).record(of: MessageKey(id: id)) }
    }

    /// What is known of a message; nil when it never came.
    public func record(ofID id: String) -> MessageRecord? { records(ofID: id).first }

    /// The ids that a gateway has accepted at least once, in the order in which they came first.
    public func acceptedIDs(_ gateway: SimulatedGateway) -> [String] {
        core.recorder(gateway).records(limit: .max) { $0.accepted > 0 }.map(\.id)
    }

    /// The messages that a gateway has accepted more than once.
    public func duplicates(_ gateway: SimulatedGateway, limit: Int = 1000) -> [MessageRecord] {
        core.recorder(gateway).records(limit: limit) { $0.accepted > 1 }
    }

    /// Replaces the faults of one gateway, or of all when it is nil; requests that come later meet the new ones.
    /// - Throws: `SimulatorError` when the plan makes no sense, such as a reason that the gateway does not know.
    public func setFaults(_ plan: FaultPlan, for gateway: SimulatedGateway? = nil) throws(SimulatorError) {
        try core.setFaults(plan, for: gateway)
    }

    /// Says what all gateways know of a device; nil makes it valid again.
    public func setDevice(_ token: String, to state: DeviceState?) {
        core.setDevices([token], to: state)
    }

    /// Says what all gateways know of many devices.
    public func setDevices(_ tokens: [String], to state: DeviceState?) {
        core.setDevices(tokens, to: state)
    }

    /// Says what the endpoint of access tokens answers, nil for tokens again, and whether its port is closed.
    public func setTokenAnswer(_ answer: ScriptedAnswer?, isClosed: Bool = false) {
        core.setTokenEndpoint(answer, isClosed: isClosed)
    }

    /// Puts tokens into the list of the feedback service of a topic, as the gateway does when a push meets a device without the
    /// app; returns false, and does nothing, if one of them is no token.
    @discardableResult
    public func addFeedback(_ tokens: [String], sinceMilliseconds: Int64, topic: String) -> Bool {
        apnsBinary.service.feedback.add(tokens, sinceMilliseconds: sinceMilliseconds, topic: topic)
    }

    /// How many tokens the feedback service has to tell.
    public var feedbackCount: Int { apnsBinary.service.feedback.count }

    /// Revokes the sample credential of a gateway, or takes that back.
    public func revokeKey(_ isRevoked: Bool, for gateway: SimulatedGateway) {
        core.conditions(gateway).change { $0.isRevoked = isRevoked }
    }

    /// Says that every APNs device that no other call named is registered for the other environment, or that it is not: a
    /// mix-up of sandbox and production, and its end.
    public func setDevicesOfOtherEnvironment(_ areElsewhere: Bool) {
        core.setDevicesOfOtherEnvironment(areElsewhere)
    }

    /// Ends every open connection of one gateway, or of all when it is nil, with a TCP reset.
    public func dropConnections(_ gateway: SimulatedGateway? = nil) {
        core.dropConnections(gateway)
    }

    /// Forgets records and counters; faults and devices stay.
    public func resetRecords() {
        core.reset()
    }
}
