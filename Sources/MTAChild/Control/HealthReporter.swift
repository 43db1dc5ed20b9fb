import Gateways
import Logging
import ProcessEvents
import Store
import Synchronization

/// Shows the gateway's trouble to operators in `application_health`, with a remedy.
///
/// The entry fails no message and stops no attempt: messages wait, and the entry goes when the trouble ends. What makes
/// every message fail is not shown here but opens the circuit (``CircuitReport``).
struct HealthReporter: Sendable {
    let store: Store
    let applicationID: Int32
    let accountID: Int32
    let logger: Logger

    /// Follows the trouble until the task is cancelled.
    func run(_ sender: Sender) async {
        // What an earlier child has left there is unknown.
        var shown: String?
        while !Task.isCancelled {
            try? await Task.sleep(for: .seconds(1))
            // The reason of an open circuit must stay.
            guard sender.snapshot.admission.circuit == .closed, !sender.database.circuit.isClosing else { continue }
            let trouble = sender.gatewayTrouble ?? sender.gatewayNotice
            guard trouble?.kind != .applicationStopped else { continue }
            let text = trouble?.standing ?? ""
            guard text != shown else { continue }
            if await show(text, remedy: trouble.map(Self.remedy) ?? "") { shown = text }
        }
    }

    /// Shows a text; an empty one means that all is well.
    /// - Returns: whether the database has it.
    @discardableResult
    func show(_ text: String, remedy: String) async -> Bool {
        do {
            try await store.showTrouble(application: applicationID, account: accountID, reason: text, remedy: remedy)
            return true
        } catch {
            if !Task.isCancelled {
                logger.failure("the state of the application could not be shown", of: error)
            }
            return false
        }
    }

    /// The remedy when every message of the application is refused.
    static let stopRemedy =
        "correct the application's credential, bundle id or environment; sending then resumes automatically"
    /// The remedy when most push tokens are refused.
    static let mixUpRemedy =
        "check that the application's environment, bundle id and credential match its push tokens; "
        + "if the tokens really are bad, run pushmta app resume --believe-refusals"

    private static func remedy(_ trouble: GatewayEvent) -> String {
        if let remedy = trouble.remedy { return remedy }
        return switch trouble.kind {
        case .unreachable: "check host and port of the external account, DNS, firewall and network"
        case .untrusted: "check the gateway's certificate, the account's CA file and this machine's clock"
        case .tokenUnavailable: "check that the token endpoint of the service account can be reached"
        case .unproved: "find out whether the gateway was stuck"
        case .applicationThrottled: "nothing: sending continues automatically; a higher quota makes it faster"
        default: stopRemedy
        }
    }
}
