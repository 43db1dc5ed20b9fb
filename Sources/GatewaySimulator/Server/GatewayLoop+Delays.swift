import NIOCore

extension GatewayLoop {
    private var time: UInt64 { NIODeadline.now().uptimeNanoseconds }

    /// Sends an answer after the plan's latency, or when the stall is over.
    func answerLater(
        _ judgement: Judgement,
        id: ArraySlice<UInt8>,
        streamID: Int32,
        isTaken: Bool,
        on connection: GatewayConnection<Rules>
    ) {
        let delay = plan.latency.map { UInt64(max(0, $0.sample(&dice))) } ?? 0
        if delay == 0, stallEnds != nil {
            held.append(judgement, id: id, streamID: streamID, isTaken: isTaken, on: connection)
        } else {
            queue.withMoment(of: time + delay, delay: delay) {
                $0.append(judgement, id: id, streamID: streamID, isTaken: isTaken, on: connection)
            }
            schedule()
        }
    }

    /// Whether answers must wait.
    var delaysAnswers: Bool { plan.latency != nil || stallEnds != nil }

    /// Starts, extends or ends a stall as the new plan says.
    func startOrEndStall() {
        if plan.stallsUntilCleared {
            stallEnds = .max
        } else if let seconds = plan.stallSeconds {
            let end = time + UInt64(seconds * 1_000_000_000)
            stallEnds = end
            schedule(at: end)
        } else {
            endStall()
        }
    }

    private func endStall() {
        stallEnds = nil
        let answers = held
        held = AnswerGroup()
        send([answers])
    }

    private func schedule() {
        guard let due = queue.firstDue else { return }
        schedule(at: due)
    }

    private func schedule(at due: UInt64) {
        if let wakeUp {
            guard due < wakeUp.due else { return }
            wakeUp.task.cancel()
        }
        let loop = NIOLoopBound(self, eventLoop: eventLoop)
        let task = eventLoop.scheduleTask(deadline: .uptimeNanoseconds(due)) { loop.value.wake() }
        wakeUp = (due, task)
    }

    private func wake() {
        wakeUp = nil
        refresh()
        let time = time
        if let end = stallEnds, end <= time { endStall() }
        let due = queue.take(dueBy: time)
        if stallEnds != nil { for answers in due { held.append(answers) } } else { send(due) }
        schedule()
        if let end = stallEnds, end != .max { schedule(at: end) }
    }

    private func send(_ moments: [AnswerGroup]) {
        var touched: [ObjectIdentifier: any AnsweringConnection] = [:]
        var last: (any AnsweringConnection)?
        for group in moments {
            for answer in group.answers where send(answer, of: group) && answer.connection !== last {
                last = answer.connection
                touched[ObjectIdentifier(answer.connection)] = answer.connection
            }
        }
        commit()
        for connection in touched.values { connection.flush() }
    }

    /// - Returns: Whether the connection has something to write.
    private func send(_ answer: DelayedAnswer, of group: AnswerGroup) -> Bool {
        let isOpen = answer.connection.isOpen(streamID: answer.streamID)
        let judgement = answer.judgement
        if answer.isTaken {
            if isOpen { noteAnswered(judgement) }
        } else {
            let code = isOpen ? judgement.code : AnswerCatalog.unanswered
            note(judgement, answer: code, isAccepted: isOpen, isAnswered: isOpen)
        }
        guard isOpen else { return false }
        let id = group.id(of: answer)
        // The id is copied, because a body may wait long for the sender's window and must not keep the group's ids in
        // memory.
        answer.connection.answer(judgement, id: judgement.isAccepted ? id : Array(id)[...], streamID: answer.streamID)
        return true
    }
}

/// A connection of any gateway, for the queue of answers. Because the protocol does not depend on the gateway's type,
/// the queue's code is specialised for what it holds, which saves 0.6 µs per answer.
protocol AnsweringConnection: AnyObject {
    /// Whether the stream can be answered.
    func isOpen(streamID: Int32) -> Bool
    func answer(_ judgement: Judgement, id: ArraySlice<UInt8>, streamID: Int32)
    /// Writes the answers.
    func flush()
}

/// A delayed answer, in 56 bytes.
struct DelayedAnswer {
    let connection: any AnsweringConnection
    /// The rest of the judgement, for the few judgements that do not fit the other fields.
    private let rest: RareJudgement?
    private let key: MessageKey
    private let tokenHash: UInt32
    let streamID: Int32
    /// Where the sender's id starts in the group's ids.
    fileprivate let idStart: UInt32
    fileprivate let idLength: UInt16
    private let code: UInt8
    private let flags: Flags

    private struct Flags: OptionSet {
        let rawValue: UInt8

        static let isTaken = Flags(rawValue: 1)
        static let isRecorded = Flags(rawValue: 2)
    }

    fileprivate init(
        _ judgement: Judgement,
        id: Range<Int>,
        streamID: Int32,
        isTaken: Bool,
        on connection: any AnsweringConnection
    ) {
        self.connection = connection
        self.streamID = streamID
        idStart = UInt32(truncatingIfNeeded: id.lowerBound)
        idLength = UInt16(truncatingIfNeeded: id.count)
        key = judgement.key
        tokenHash = judgement.tokenHash
        code = judgement.code
        flags = (isTaken ? .isTaken : Flags()).union(judgement.isRecorded ? .isRecorded : Flags())
        let isPlain = judgement.retryAfter == nil && judgement.detail == nil && judgement.sinceMilliseconds == 0
        rest = isPlain ? nil : RareJudgement(judgement)
    }

    /// Whether the push was recorded when it arrived. Otherwise it is recorded with its answer, if its connection is
    /// still open.
    var isTaken: Bool { flags.contains(.isTaken) }

    var judgement: Judgement {
        if let rest { return rest.judgement }
        var judgement = Judgement(key: key, tokenHash: tokenHash, code: code)
        judgement.isRecorded = flags.contains(.isRecorded)
        return judgement
    }
}

private final class RareJudgement {
    let judgement: Judgement

    init(_ judgement: Judgement) {
        self.judgement = judgement
    }
}

/// Answers that are sent together, with their senders' ids in one contiguous array. As separate arrays, the ids would
/// be in memory that has left the cache since the request.
struct AnswerGroup {
    private(set) var answers: [DelayedAnswer] = []
    private var ids: [UInt8] = []

    /// - Parameter id: The sender's id, at most 65,535 bytes: a UUID's text, or empty.
    mutating func append(
        _ judgement: Judgement,
        id: ArraySlice<UInt8>,
        streamID: Int32,
        isTaken: Bool,
        on connection: any AnsweringConnection
    ) {
        let start = ids.count
        ids += id
        answers.append(
            DelayedAnswer(judgement, id: start..<ids.count, streamID: streamID, isTaken: isTaken, on: connection)
        )
    }

    mutating func append(_ other: AnswerGroup) {
        for answer in other.answers {
            append(
                answer.judgement,
                id: other.id(of: answer),
                streamID: answer.streamID,
                isTaken: answer.isTaken,
                on: answer.connection
            )
        }
    }

    func id(of answer: DelayedAnswer) -> ArraySlice<UInt8> {
        let start = Int(answer.idStart)
        return ids[start..<start + Int(answer.idLength)]
    }
}
