import Gateways
import PushCore
import Store

/// The events that come in and the actions that go out.
extension DispatchState {
    enum Event: Sendable {
        case prepared(PreparedPart)
        /// A claimed part that cannot be prepared goes back unchanged.
        case refused(PartToken)
        /// A claimed part whose messages cannot be read now goes back and waits in the database.
        case unloaded(PartToken, reason: String)
        /// The database has a part back.
        case released(PartToken)
        /// The database has committed marks; `held` are the parts that still carry this child's token.
        case marked([PartMark], held: Set<Int64>)
        /// The marks could not be committed.
        case markFailed
        case resolved(batchID: Int64, outcomes: [Outcome])
        /// The pause before a batch's unsent messages are resent is over.
        case resendDue(batchID: Int64)
        /// A batch was stored; batches are stored in the order in which they were taken. `claims` are its parts, with
        /// their tokens.
        case stored(StoreReport, claims: Set<PartToken>, windowRows: Int)
        /// Part ends were stored later because their delivery was locked when the rest of their batch was stored.
        case ended(StoreReport, claims: Set<PartToken>)
        /// The database no longer lists these parts as this child's: another owner has taken them, unless they have
        /// ended.
        case leasesLost(Set<PartToken>)
        /// The right to send was renewed, or has expired on this host's clock.
        case leaseValid(Bool)
        /// The path to the gateway failed: no connection was established, or one was lost.
        case gatewayFailed(String)
        /// The gateway is open, with its limits and the meaning of its answers. No message was handed to it yet.
        case gatewayOpened(GatewayLimits, GatewayAnswers)
        /// The gateway has shown that it is well by something other than an answer.
        case gatewayReached
        /// The gateway's trouble as the database has it.
        case troubleSeen(TroubleSeen)
        /// This child has become the prober of the gateway in trouble.
        case becameProber
        /// Another child is the prober, or the trouble is over.
        case lostProber
        /// One message may leave as a probe, because this child is the prober.
        case probe
        /// The probe was refused, or there was nothing to probe with.
        case probeFailed
        /// The states of deliveries as the database has them now.
        case deliveryStates([Int64: DeliveryState])
        /// Every message of the application would be refused.
        case applicationStopped
        /// The application's circuit was found open.
        case circuitFoundOpen
        /// Nothing more is claimed: send what is held, and give back what a rate limit holds.
        case drain
        /// Give back everything that is not on the wire.
        case fastShutdown
        /// The journal has reached a length, in bytes, at which it should be cut.
        case journalLong(Int64)
        /// This many messages may now be on the wire at once, over all connections.
        case capacityChanged(Int)
        /// The limits of messages a second for the child, and for the deliveries that were asked for.
        case limitsSeen([RateLimit], asked: Set<Int64>)
        /// More messages may leave now.
        case lookAgain
        /// Slices of rates were granted; none for a requested limit that could not be granted.
        case slices([RateSlice], asked: [Int64])
    }

    enum Action: Sendable {
        case mark([PartMark])
        case journal([UInt8])
        case submit(GatewayRequestBatch)
        case resendLater(batchID: Int64, attempt: Int)
        /// There are outcomes to store: now, because the batch is full, or within the batch delay.
        case store(isFull: Bool)
        case cancelQueued
        case release(PartToken, PartRecovery)
        /// Give back a part whose push tokens were refused, to be sent alone. With a reason it waits, and others pass
        /// it.
        case putAside(PartToken, PartRecovery, reason: String?)
        /// Give a part back unchanged; no child gets it before a pause that the database sets.
        case postpone(PartToken, reason: String)
        /// Remove from the journal's first bytes the records of other parts than these; the database has what they say.
        case cutJournal(upTo: Int64, keeping: Set<PartToken>)
        /// Log that another owner took over this many parts.
        case tellLost(Int)
        /// There is room for another part.
        case claimMore
        /// Messages wait for their rate; more may leave after this pause.
        case lookAgain(after: Duration)
        /// Messages wait for rate slices.
        case askForSlices
        /// The gateway finds a rate too high.
        case cutRate(limit: Int64, reason: String)
        /// The gateway takes nothing, because of its own state: only probes are sent, not before what the gateway asked
        /// for.
        case enterTrouble(reason: String, notBefore: Duration?)
        /// A probe got a proper answer of the gateway: sending resumes.
        case troubleOver
        /// A credential stored with the gateway is wrong: the messages that need it wait apart.
        case credentialRefused(reason: String)
        /// A message that waited for such a credential got through.
        case credentialWorks(reason: String)
        /// Every message of the application would be refused, for a reason other than the messages.
        case openCircuit(reason: String, holdsTokenEffects: Bool)
        /// A probe got through.
        case closeCircuit
        /// Every message of the delivery would be refused, for a reason that is the delivery's own.
        case holdDelivery(Int64, reason: String)
    }
}
