/// The rules of FCM's legacy HTTP protocol.
struct FCMLegacyRules: Sendable {
    static let path = "/fcm/send"

    private let authorization: String

    /// Rules with this server key.
    init(projectKey: String) {
        authorization = "key=" + projectKey
    }

    func judge(_ request: FCMLegacyRequest, _ conditions: GatewayConditions) -> FCMLegacyJudgement {
        var judgement = FCMLegacyJudgement()
        if request.path != Self.path {
            judgement.reason = .notFound
        } else if request.method != "POST" {
            judgement.reason = .methodNotAllowed
        } else if request.authorization != authorization || conditions.isRevoked {
            judgement.reason = .invalidKey
        }
        do throws(FCMLegacyRefusal) {
            // The message of a refused sender is recorded, too, if it can be read.
            fill(&judgement, try read(request), conditions)
        } catch {
            judgement.reason = judgement.reason ?? .invalidParameters
            judgement.text = error.text
        }
        return judgement
    }

    private func read(_ request: FCMLegacyRequest) throws(FCMLegacyRefusal) -> FCMLegacyMessage {
        if request.contentType.hasPrefix("application/x-www-form-urlencoded") {
            return FCMLegacyFormReader.read(request.body)
        }
        guard request.contentType.hasPrefix("application/json") else {
            throw FCMLegacyRefusal(text: "InvalidParameters: Content-Type must be application/json")
        }
        return try FCMLegacyMessageReader.read(request.body)
    }

    private func fill(
        _ judgement: inout FCMLegacyJudgement,
        _ message: FCMLegacyMessage,
        _ conditions: GatewayConditions
    ) {
        judgement.isRecorded = !message.isDryRun
        judgement.isTopic = message.isTopic
        judgement.isForm = message.isForm
        judgement.results.reserveCapacity(message.targets.count)
        for target in message.targets {
            var result = FCMLegacyJudgement.Result(
                key: message.id ?? target.key,
                tokenHash: UInt32(truncatingIfNeeded: target.key.high),
                reason: message.problem ?? (target.isToken ? nil : .invalidRegistration)
            )
            if result.reason == nil { checkDevice(conditions.devices[target.key], &result) }
            judgement.results.append(result)
        }
        followScript(&judgement)
        if message.targets.isEmpty, let problem = message.problem {
            judgement.results = [.init(key: message.id ?? .none, tokenHash: 0, reason: problem)]
        }
    }

    /// A script can define the answer to the whole request.
    private func followScript(_ judgement: inout FCMLegacyJudgement) {
        judgement.retryAfter = judgement.results.lazy.compactMap(\.retryAfter).first
        guard let whole = judgement.results.first(where: { $0.reason.map { !$0.isResult } ?? false }) else { return }
        judgement.reason = judgement.reason ?? whole.reason
    }

    private func checkDevice(_ device: DeviceState?, _ result: inout FCMLegacyJudgement.Result) {
        switch device {
        case .unregistered, .expired: result.reason = .notRegistered
        case .badDeviceToken: result.reason = .invalidRegistration
        case .deviceTokenNotForTopic: result.reason = .mismatchSenderID
        case .replaced(let token): result.canonical = token
        case .scripted(let script):
            if case .reason(let name) = script.act, let reason = FCMLegacyReason(rawValue: name), script.take() {
                result.reason = reason
                result.retryAfter = script.retryAfter
            }
        case .pushType, nil: break
        }
    }
}

/// A complete request as the rules need it.
struct FCMLegacyRequest: Sendable {
    var method: String
    var path: String
    var authorization: String
    /// In lower case.
    var contentType: String
    var body: [UInt8]
}

/// The judgement of one legacy request: an answer to the whole request, or a result for each device.
struct FCMLegacyJudgement {
    /// The result for one device.
    struct Result {
        /// The message's key for the records.
        var key: MessageKey
        var tokenHash: UInt32
        /// Why it is rejected; nil if it is accepted.
        var reason: FCMLegacyReason?
        /// The token to use instead.
        var canonical: String?
        /// The value of the Retry-After header of a scripted rejection.
        var retryAfter: String?
    }

    /// The devices, in the order of the request.
    var results: [Result] = []
    /// The answer to the whole request; nil if each device has its own.
    var reason: FCMLegacyReason?
    /// The text of a 400.
    var text = ""
    var retryAfter: String?
    /// Whether the messages are recorded; those of a dry run are not.
    var isRecorded = true
    var isTopic = false
    var isForm = false

    /// Whether every message is rejected.
    var isRejected: Bool { reason != nil || !results.isEmpty && results.allSatisfy { $0.reason != nil } }

    /// The pushes for the records.
    ///
    /// - Parameters:
    ///   - answer: The code of the answer to messages that are not rejected.
    ///   - isTaken: Whether messages that are not rejected are accepted.
    ///   - isAnswered: Whether the answer is sent now.
    func pushes(_ answer: UInt8 = AnswerCatalog.accepted, isTaken: Bool, isAnswered: Bool) -> [RecordedPush] {
        guard isRecorded else { return [] }
        if results.isEmpty, let reason {
            // The messages are unknown; only the refused request is recorded.
            return [
                RecordedPush(key: .none, tokenHash: 0, answer: reason.code, isAccepted: false, isAnswered: isAnswered)
            ]
        }
        return results.map { result in
            let rejection = (reason ?? result.reason)?.code
            return RecordedPush(
                key: result.key,
                tokenHash: result.tokenHash,
                answer: rejection ?? answer,
                isAccepted: rejection == nil && isTaken,
                isAnswered: isAnswered
            )
        }
    }
}
