import Foundation
import Testing

@testable import MobileSDK

/// Drives a machine and keeps what it wanted.
struct RegistrationDriver {
    private var machine = RegistrationMachine(seed: 7)
    private var calls: UInt64 = 0
    /// The requests so far.
    private(set) var sent: [(attempt: UInt64, request: PushRequest)] = []
    /// What is stored now.
    private(set) var stored: RegistrationRecord?
    private(set) var timer: (number: UInt64, seconds: Double)?
    /// The outcomes of the last event.
    private(set) var reports: [(outcome: RegistrationOutcome, calls: [UInt64])] = []

    /// A machine that has its settings.
    init(record: RegistrationRecord? = nil, host: String? = "marketingServer", key: String? = "integrationKey") {
        if let record { handle(.started(record)) }
        handle(.marketingHost(host))
        handle(.integrationKey(key))
    }

    mutating func handle(_ event: RegistrationMachine.Event) {
        reports = []
        for action in machine.handle(event) {
            switch action {
            case .store(let record): stored = record
            case .send(let attempt, let request): sent.append((attempt, request))
            case .startTimer(let number, let seconds): timer = (number, seconds)
            case .report(let outcome, let calls): reports.append((outcome, calls))
            }
        }
    }

    /// Registers, and gives back the number of the call.
    @discardableResult mutating func register(_ userKey: String = "") -> UInt64 {
        register(.sample(userKey: userKey))
    }

    /// Registers something else.
    @discardableResult mutating func register(_ wanted: WantedRegistration) -> UInt64 {
        calls += 1
        handle(.register(wanted, call: calls))
        return calls
    }

    /// Answers the last request.
    mutating func answer(_ result: TransportResult) {
        handle(.answered(attempt: sent.last?.attempt ?? 0, result))
    }

    mutating func fireTimer() throws {
        let timer = try #require(timer)
        self.timer = nil
        handle(.timerFired(timer.number))
    }

    /// What the requests say behind the parameters, as far as they say something there.
    var words: [String] {
        sent.map { $0.request.body?.components(separatedBy: "additionalParams%3E").last ?? "" }
    }

    /// The user keys of the requests so far.
    var userKeys: [String] {
        sent.compactMap { entry in
            entry.request.body?.split(separator: "&").first { $0.hasPrefix("userKey=") }.map { String($0.dropFirst(8)) }
        }
    }

    var outcomes: [RegistrationOutcome] { reports.map(\.outcome) }
}
