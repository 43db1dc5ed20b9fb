import Gateways
import PushCore
import Store

/// What comes in and what goes out.
extension DispatchState {
    enum Event: Sendable {
        case prepared(PreparedPart)
        /// A claimed part that cannot be prepared goes back as it came.
        case refused(PartToken)
        /// A claimed part whose messages cannot be read now goes back, and waits there.
        case unloaded(PartToken, reason: String)
        /// The database has a part back.
        case released(PartToken)
        /// The database has committed marks; `held` are the parts that still carry this child's token.
        case marked([PartMark], held: Set<Int64>)
        /// The database could not be asked for marks.
        case markFailed
        case resolved(batchID: Int64, outcomes: [Outcome])
        /// The pause before unsent messages of a batch are sent again is over.
        case resendDue(batchID: Int64)
        /// A batch is in the database, each in the order in which it was taken; `claims` are the parts, with their
        /// tokens, that it was about.
        case stored(StoreReport, claims: Set<PartToken>, windowRows: Int)
        /// Ends of parts are in the database whose delivery was locked when the rest of their batch was stored.
        case ended(StoreReport, claims: Set<PartToken>)
        /// The database does not name these parts among the child's: another owner has taken them, but for those that have ended.
        case leasesLost(Set<PartToken>)
        /// The right to send has been renewed, or has run out on this host's clock.
        case leaseValid(Bool)
        /// The way to the gateway has failed: no connection came about, or one was lost.
        case gatewayFailed(String)
        /// The gateway is there; whether it answers failures alone.
        case gatewayOpened(takesInSilence: Bool)
        /// A connection came about to a gateway that takes messages in silence.
        case gatewayReached
        /// What the database says of the gateway's trouble.
        case troubleSeen(TroubleSeen)
        /// This child is the one that probes the gateway in trouble.
        case becameProber
        /// Another child probes it, or the trouble is over.
        case lostProber
        /// One message may leave, to find out whether the gateway takes messages again; this child is the one that tries.
        case probe
        /// The probe was refused, or has met nothing.
        case probeFailed
        /// The states of deliveries, as the database has them now.
        case deliveryStates([Int64: DeliveryState])
        /// Every message of the application would be refused.
        case applicationStopped
        /// Somebody has opened the application's circuit.
        case circuitFoundOpen
        /// Nothing more is claimed: send what is held, and give back what a limit of messages a second holds.
        case drain
        /// Give everything back that is not on the wire.
        case fastShutdown
        /// The journal has grown to a length, in bytes, at which it should be cut.
        case journalLong(Int64)
        /// So many messages may be on the wire at once now, over all connections.
        case capacityChanged(Int)
        /// The limits of messages a second that hold for the child, and for the deliveries that were asked for.
        case limitsSeen([RateLimit], asked: Set<Int64>)
        /// More messages may leave by now.
        case lookAgain
        /// Slices of rates are there; none for a limit that was asked for and could not be had.
        case slices([RateSlice], asked: [Int64])
    }

    enum Action: Sendable {
        case mark([PartMark])
        case journal([UInt8])
        case submit(GatewayRequestBatch)
        case resendLater(batchID: Int64, attempt: Int)
        /// Outcomes are there to be stored: now, because the batch is full, or within the batch delay.
        case store(isFull: Bool)
        case cancelQueued
        case release(PartToken, PartRecovery)
        /// Give a part back whose push tokens were refused, to be judged by itself; with a reason it waits, and others pass it.
        case putAside(PartToken, PartRecovery, reason: String?)
        /// Give a part back as it came; nobody gets it before a pause, which the database sets.
        case postpone(PartToken, reason: String)
        /// Take out of the journal's first bytes what they say of other parts than these: the database has it.
        case cutJournal(upTo: Int64, keeping: Set<PartToken>)
        /// Parts were taken over by another owner.
        case tellLost(Int)
        /// There is room for another part.
        case claimMore
        /// Messages wait for their rate: more may leave after so long.
        case lookAgain(after: Duration)
        /// Messages wait for slices of rates.
        case askForSlices
        /// The gateway has said that a rate is too high.
        case cutRate(limit: Int64, reason: String)
        /// The gateway takes nothing, and it is its own fault: nothing is sent but probes, after what the gateway asked for.
        case enterTrouble(reason: String, notBefore: Duration?)
        /// A probe was answered as one of the gateway's: sending begins again.
        case troubleOver
        /// A credential that is stored with the gateway is wrong: the messages that need it wait apart.
        case credentialRefused(reason: String)
        /// A message that has waited for such a credential got through.
        case credentialWorks(reason: String)
        /// Every message of the application would be refused, for a reason that is not the messages'.
        case openCircuit(reason: String, holdsTokenEffects: Bool)
        /// A probe got through.
        case closeCircuit
        /// Every message of the delivery would be refused, for a reason that is the delivery's own.
        case holdDelivery(Int64, reason: String)
    }
}
