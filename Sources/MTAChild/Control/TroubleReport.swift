import Logging
import ProcessEvents
import PushCore
import Store

/// Reports the begin and end of the gateway's trouble to the database, retrying until they are stored.
final class TroubleReport: Sendable {
    private let store: Store
    private let applicationID: Int32
    private let accountID: Int32
    private let childID: Int64
    private let logger: Logger
    private let reports: OrderedReports

    init(store: Store, applicationID: Int32, accountID: Int32, childID: Int64, logger: Logger) {
        self.store = store
        self.applicationID = applicationID
        self.accountID = accountID
        self.childID = childID
        self.logger = logger
        reports = OrderedReports(of: "the trouble of the gateway", logger: logger)
    }

    /// Whether the database may not know yet what this child has found.
    var isUnderWay: Bool { reports.isUnderWay }

    /// Returns when the database knows the latest state.
    func finished() async {
        await reports.finished()
    }

    /// Reports that the gateway takes nothing.
    ///
    /// - Parameter notBefore: how long the gateway wants nothing, from now; nil if it did not say.
    func enter(reason: String, notBefore: Duration?) {
        var random = SystemRandomNumberGenerator()
        let pause = ProbePace.pause(notBefore: notBefore ?? .zero, using: &random)
        logger.event(
            .gatewayAway,
            "the gateway takes no messages (\(reason)): they wait, and single probes test when it takes them again"
        )
        reports.tell("trouble") { [store, applicationID, accountID] in
            try await store.enterTrouble(
                application: applicationID,
                account: accountID,
                reason: reason,
                nextProbeIn: pause,
                keepsProber: notBefore == nil
            )
        }
    }

    /// Reports that a message got through that had waited for a credential stored with the gateway.
    func endCredentialWait(_ reason: String) {
        logger.notice(
            "a message that the gateway had answered with \(reason) got through: the others that wait for it are sent"
        )
        reports.tell("credential") { [store, applicationID, accountID] in
            try await store.endCredentialWait(application: applicationID, account: accountID, reason: reason)
        }
    }

    /// Reports that a probe got through.
    func end() {
        logger.event(.gatewayBack, "a probe got through: sending resumes")
        reports.tell("end") { [store, applicationID, accountID] in
            try await store.endTrouble(application: applicationID, account: accountID)
        }
    }
}
