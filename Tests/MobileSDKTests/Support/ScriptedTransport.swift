import Foundation

@testable import MobileSDK

/// A network that does what a test says, request by request, and keeps what was sent.
actor ScriptedTransport: PushTransport {
    struct Offline: Error, LocalizedError {
        var errorDescription: String? { "offline" }
    }

    enum Step: Sendable {
        case answer(Int, String = "")
        case offline
    }

    private var steps: [Step]
    private(set) var requests: [PushRequest] = []

    init(_ steps: Step...) {
        self.steps = steps
    }

    func send(_ request: PushRequest) async throws -> PushAnswer {
        requests.append(request)
        switch steps.isEmpty ? .answer(200) : steps.removeFirst() {
        case .answer(let status, let body): return PushAnswer(status: status, body: Data(body.utf8))
        case .offline: throw Offline()
        }
    }
}
