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
