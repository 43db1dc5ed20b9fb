import LaboratoryStore
import PushCore
import Store

@testable import Administration
@testable import Laboratory
@testable import pushmta

/// A delivery's account from outcomes and tallies that a test invents.
struct ReconciliationCase {
    var policy = AmbiguityPolicy.resend
    var target: Int64?
    /// The number of messages for the audience; nil for the number of outcomes.
    var messages: Int64?
    var allows: Set<MessageStatus> = []
    var campaign: CampaignKind?
    var excluded: Int64 = 0
    var state = DeliveryState.finished
    var resent: Int64 = 0
    var outcomes: [(sequence: Int32, status: MessageStatus)] = []
    var ambiguous: Set<Int32> = []
    /// How often the gateway accepted a message, and how often it gave another answer.
    var gateway: [Int32: (accepted: Int, others: Int)] = [:]

    func account() throws -> DeliveryAccount {
        var tallies: [Int32: GatewayTally] = [:]
        for (sequence, times) in gateway {
            var tally = GatewayTally()
            for time in 0..<times.accepted { tally.add(GatewayRecordLine(id: "", status: 200, time: Double(time))) }
            for time in 0..<times.others { tally.add(GatewayRecordLine(id: "", status: 503, time: Double(time))) }
            tallies[sequence] = tally
        }
        return DeliveryAccount(
            DrillDelivery(
                id: 7,
                policy: policy,
                messages: messages ?? count,
                allows: allows,
                campaign: campaign
            ),
            codec: try MessageIDCodec(
                deliveryID: 7,
                trackingKey: [UInt8](repeating: 9, count: MessageIDCodec.keyLength)
            ),
            progress: progress,
            outcomes: outcomes.map { MessageOutcome(sequence: $0.sequence, status: $0.status, attempt: 1) },
            ambiguous: ambiguous,
            tallies: tallies
        )
    }

    private var count: Int64 { Int64(Set(outcomes.map(\.sequence)).count) }

    private var progress: DeliveryProgress {
        DeliveryProgress(
            id: 7,
            label: "",
            state: state,
            stateReason: "",
            target: target ?? count,
            excluded: excluded,
            pending: 0,
            sent: 0,
            failed: 0,
            ignored: 0,
            notApplicable: 0,
            canceled: 0,
            unknown: 0,
            lateOutcomes: 0,
            resentAfterAmbiguity: resent,
            journalReplayed: 0,
            partsReady: 0,
            partsClaimed: 0,
            partsWaiting: 0,
            partsDone: 0,
            prepared: true,
            startedAt: nil,
            finishedAt: nil,
            now: DatabaseTime(microsecondsSince1970: 0)
        )
    }
}
