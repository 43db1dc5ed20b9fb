import ArgumentParser
import Foundation
import GatewaySimulator

/// The initial faults. They apply to all gateways; an error applies to the gateways that know its reason.
struct FaultOptions: ParsableArguments {
    @Option(help: "The latency of answers: \"50\" (ms), \"10-80\" (uniform), \"exp:40\" (mean) or \"p50:30,p99:200\".")
    var latency: String?

    @Option(
        help: ArgumentHelp(
            "Reject a share of pushes, such as Unregistered=0.01 or UNAVAILABLE=0.05:30 (Retry-After 30); repeatable.",
            valueName: "reason=rate[:retry-after]"
        )
    )
    var error: [String] = []

    @Option(help: "Send a GOAWAY on each connection after this many streams.")
    var goawayAfter: Int?

    @Option(help: "The number of streams above the GOAWAY's last-stream-id that arrive before it is sent.")
    var goawayUnprocessed = 0

    @Option(help: "The reason in the GOAWAY's JSON, such as Shutdown.")
    var goawayReason: String?

    @Option(help: "The GOAWAY's HTTP/2 error code.")
    var goawayCode: UInt32 = 0

    @Option(help: "The share of streams to refuse (REFUSED_STREAM).")
    var refuseRate = 0.0

    @Option(help: "The quota of the FCM HTTP v1 project, in messages per minute; any above it get a 429.")
    var quota: Int?

    @Option(help: "The limit of concurrent streams; by default the gateway's own.")
    var maxStreams: Int?

    @Option(help: "The share of pushes to accept and never answer.")
    var neverAnswerRate = 0.0

    @Option(help: "Answer nothing for this many seconds after the start.")
    var stall: Double?

    @Option(help: "Drop each connection after this many streams.")
    var resetAfter: Int?

    @Option(help: "The seed for random choices, to repeat a run.")
    var seed: UInt64?

    @Option(
        help: ArgumentHelp(
            "The whole plan of APNs as JSON, as for the control port, instead of the options above.",
            valueName: "json"
        )
    )
    var apnsFaults: String?

    @Option(help: ArgumentHelp("The whole plan of FCM as JSON.", valueName: "json"))
    var fcmFaults: String?

    @Option(help: ArgumentHelp("The whole plan of legacy FCM as JSON.", valueName: "json"))
    var fcmLegacyFaults: String?

    @Option(help: ArgumentHelp("The whole plan of binary APNs as JSON.", valueName: "json"))
    var apnsBinaryFaults: String?

    @Option(
        help: ArgumentHelp(
            "The state of a device, such as Unregistered=<token> or Replaced=<token>,<new token>; repeatable.",
            valueName: "state=token"
        )
    )
    var device: [String] = []

    /// The fault plans of all gateways.
    func plans() throws -> [SimulatedGateway: FaultPlan] {
        var plans: [SimulatedGateway: FaultPlan] = [:]
        for gateway in SimulatedGateway.allCases { plans[gateway] = try plan(gateway) }
        return plans
    }

    /// The device states.
    func devices() throws -> [String: DeviceState] {
        var devices: [String: DeviceState] = [:]
        let now = Int64(Date().timeIntervalSince1970 * 1000)
        for text in device {
            let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
            let tokens = parts.last?.split(separator: ",", maxSplits: 1).map(String.init) ?? []
            let by = tokens.count == 2 ? tokens[1] : nil
            guard parts.count == 2, let token = tokens.first,
                let state = DeviceState(name: parts[0], sinceMilliseconds: now, by: by)
            else {
                throw ValidationError(
                    "\"\(text)\" is not state=token with one of \(DeviceState.names.joined(separator: ", "))"
                )
            }
            devices[token] = state
        }
        return devices
    }

    private func plan(_ gateway: SimulatedGateway) throws -> FaultPlan {
        if let json = json(gateway) {
            do {
                return try FaultPlan(json: json.utf8)
            } catch let error as DecodingError {
                throw ValidationError("the faults of \(gateway.rawValue): \(FaultPlan.explain(error))")
            }
        }
        var plan = FaultPlan()
        plan.seed = seed
        plan.latency = try latency.map(parseLatency)
        plan.errors = try errors(of: gateway)
        plan.goAway = goawayAfter.map {
            GoAwayFault(afterStreams: $0, unprocessed: goawayUnprocessed, reason: goawayReason, errorCode: goawayCode)
        }
        plan.refusedRate = refuseRate
        plan.quotaPerMinute = gateway == .fcm ? quota : nil
        plan.maxConcurrentStreams = maxStreams
        plan.neverAnsweredRate = neverAnswerRate
        plan.stallSeconds = stall
        plan.resetAfterStreams = resetAfter
        return plan
    }

    private func json(_ gateway: SimulatedGateway) -> String? {
        switch gateway {
        case .apns: apnsFaults
        case .fcm: fcmFaults
        case .fcmLegacy: fcmLegacyFaults
        case .apnsBinary: apnsBinaryFaults
        }
    }

    private func errors(of gateway: SimulatedGateway) throws -> [ErrorRate] {
        try error.compactMap { text in
            let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
            let values = parts.count == 2 ? parts[1].split(separator: ":", maxSplits: 1).map(String.init) : []
            guard let rate = values.first.flatMap({ Double($0) }) else {
                throw ValidationError("\"\(text)\" is not reason=rate or reason=rate:retry-after")
            }
            guard SimulatedGateway.allCases.contains(where: { $0.rejectionReasons.contains(parts[0]) }) else {
                throw ValidationError("no gateway answers \"\(parts[0])\"")
            }
            guard gateway.rejectionReasons.contains(parts[0]) else { return nil }
            return ErrorRate(reason: parts[0], rate: rate, retryAfter: values.count > 1 ? values[1] : nil)
        }
    }

    private func parseLatency(_ text: String) throws -> LatencyDistribution {
        let fields = Dictionary(
            text.split(separator: ",").map { field in
                let parts = field.split(separator: ":", maxSplits: 1).map(String.init)
                return (parts[0], parts.count > 1 ? Double(parts[1]) : nil)
            },
            uniquingKeysWith: { $1 }
        )
        let bounds = text.split(separator: "-").map { Double($0) }
        if let milliseconds = Double(text) { return .fixed(milliseconds: milliseconds) }
        if bounds.count == 2, let from = bounds[0], let to = bounds[1] { return .uniform(from: from, to: to) }
        if let mean = fields["exp"] ?? nil { return .exponential(mean: mean) }
        if let p50 = fields["p50"] ?? nil, let p99 = fields["p99"] ?? nil { return .quantiles(p50: p50, p99: p99) }
        throw ValidationError("\"\(text)\" is not a latency: give 50, 10-80, exp:40 or p50:30,p99:200")
    }
}
