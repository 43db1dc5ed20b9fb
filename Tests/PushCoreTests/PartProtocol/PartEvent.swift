@testable import PushCore

/// A step of the part protocol, taken by one of its participants, or something that happens to them.
///
/// Owners (MTA children) and parts are named by their index. An event that is not possible in the present state does
/// nothing. Message sets are cut down to the messages that the step is possible for.
enum PartEvent: Sendable, Hashable {
    /// An owner claims a ready part; when the reply is lost, it does not know that it has.
    case claim(owner: Int, part: Int, replyArrives: Bool)
    /// An owner that lost a reply asks which part carries its token.
    case reconnect(owner: Int)
    /// An owner reads its part's known outcomes and the notes of earlier owners, and may send from then on.
    case readKnown(owner: Int)
    /// An owner moves its part's dispatch mark over the next `count` messages.
    case mark(owner: Int, count: Int, replyArrives: Bool)
    /// An owner journals its intent to send.
    case intend(owner: Int, MessageSet)
    /// An owner writes to the gateway's connection.
    case write(owner: Int, MessageSet)
    /// The gateway processes what was written and answers.
    case process(owner: Int, MessageSet, GatewayAnswer)
    /// The gateway says that it has not processed what was written (REFUSED_STREAM, GOAWAY).
    case refuse(owner: Int, MessageSet)
    /// An owner reads answers and journals them.
    case read(owner: Int, MessageSet)
    /// An owner reads refusals that many messages have had at once, holds them undecided, and journals them as not sent.
    case hold(owner: Int, MessageSet)
    /// An owner decides what it holds: few had such refusals, so they are about their messages.
    case decide(owner: Int)
    /// The application's circuit opens: what the owner holds is not sent, as it was before.
    case openCircuit(owner: Int)
    /// An owner's connection to the gateway breaks, and with it every answer not read.
    case loseConnection(owner: Int)
    /// The gateway processes messages of a connection that is gone; nobody hears its answer.
    case processStray(MessageSet)
    /// An owner sends its store transaction, with the part's end in it when everything has an outcome.
    case store(owner: Int)
    /// The database executes and commits a store transaction, perhaps long after its sender died.
    case executeStore(owner: Int)
    /// The reply of a store transaction arrives.
    case acknowledgeStore(owner: Int)
    /// The reply of a store transaction, or the transaction before its execution, is lost.
    case loseStore(owner: Int)
    /// An owner renews its lease.
    case renew(owner: Int)
    /// An owner gives its part back with messages left, because it drains.
    case giveBack(owner: Int)
    /// An owner is told that the delivery was stopped, and will cancel what it has not sent.
    case cancelRest(owner: Int)
    /// An owner's process dies; its journal stays.
    case crash(owner: Int)
    /// An owner's host is lost, and its journal with it.
    case loseHost(owner: Int)
    /// The supervisor replays a dead owner's journal and releases its part; when the reply is lost, it will repeat it.
    case replay(owner: Int, replyArrives: Bool)
    /// A sweep looks at a part's lease for the first time.
    case observe(part: Int)
    /// A sweep takes a part whose lease has not moved since, and makes it ready for others.
    case sweep(part: Int)
    /// A stop or the end of the validity takes a ready part: what may have arrived of it is unknown, the rest is canceled.
    case stop(part: Int)
}

/// What an event brought about.
enum PartAction: Sendable, Hashable {
    /// A part was claimed under a new token.
    case claimed(part: Int, token: Int)
    /// Messages reached their devices.
    case delivered(MessageSet)
    /// Outcome rows came into being.
    case recorded(MessageSet, MessageStatus)
    /// Gateway answers of an owner that has lost its part were recorded all the same.
    case recordedLate(MessageSet)
    /// Outcomes were there already; the batch was repeated without them.
    case uniqueViolation(MessageSet)
    /// Messages may or may not have been delivered, and the policy was applied to them.
    case ambiguous(MessageSet)
    /// An owner found that it has lost its part.
    case fenced(owner: Int)
    /// A part went back to the queue.
    case released(part: Int)
    /// Messages went from a part to a new one.
    case handedOver(MessageSet, part: Int)
    /// A part ended.
    case closed(part: Int)
}

/// What the model's gateway says to a message that it has processed.
enum GatewayAnswer: Sendable, Hashable, CaseIterable {
    /// It was delivered to the device.
    case accepted
    /// It will never be.
    case permanent
    /// It was not delivered, and may be tried again later.
    case retry
    /// Nothing of the application is delivered for now, and nothing of it is said by that about the message.
    case stop
}
