import NIOCore

extension GatewayLoop {
    private var time: UInt64 { NIODeadline.now().uptimeNanoseconds }

    /// Sends an answer after the latency of the plan, or when the stall is over.
    func answerLater(
        _ judgement: Judgement,
        id: [UInt8],
        streamID: Int32,
        isTaken: Bool,
        on connection: GatewayConnection<Rules>
    ) {
        let delay = plan.latency.map { UInt64(max(0, $0.sample(&dice))) } ?? 0
        let answer = DelayedAnswer(
            due: time + delay,
            connection: connection,
            streamID: streamID,
            judgement: judgement,
            id: id,
            isTaken: isTaken
        )
        if delay == 0, stallEnds != nil {
            held.append(answer)
        } else {
            queue.insert(answer, delay: delay)
            schedule()
        }
    }

    /// True when answers have to wait.
    var delaysAnswers: Bool { plan.latency != nil || stallEnds != nil }

    /// Begins, prolongs or ends a stall as the new plan says.
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
        held = []
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
        if stallEnds != nil { held += due.joined() } else { send(due) }
        schedule()
        if let end = stallEnds, end != .max { schedule(at: end) }
    }

    private func send(_ moments: [[DelayedAnswer]]) {
        var touched: [ObjectIdentifier: any AnsweringConnection] = [:]
        var last: (any AnsweringConnection)?
        for answers in moments {
            for answer in answers where send(answer) && answer.connection !== last {
                last = answer.connection
                touched[ObjectIdentifier(answer.connection)] = answer.connection
            }
        }
        commit()
        for connection in touched.values { connection.flush() }
    }

    /// - Returns: whether the connection has something to write.
    private func send(_ answer: DelayedAnswer) -> Bool {
        let isOpen = answer.connection.isOpen(streamID: answer.streamID)
        if answer.isTaken {
            if isOpen { noteAnswered(answer.judgement) }
        } else {
            let code = isOpen ? answer.judgement.code : AnswerCatalog.unanswered
            note(answer.judgement, answer: code, isAccepted: isOpen, isAnswered: isOpen)
        }
        guard isOpen else { return false }
        answer.connection.answer(answer.judgement, id: answer.id[...], streamID: answer.streamID)
        return true
    }
}

/// A connection of whichever gateway, to which an answer may be due. Without the gateway's type in it the queue of answers is compiled for
/// what it holds: 0.6 µs an answer less.
protocol AnsweringConnection: AnyObject {
    /// The stream can be answered.
    func isOpen(streamID: Int32) -> Bool
    /// Answers a request.
    func answer(_ judgement: Judgement, id: ArraySlice<UInt8>, streamID: Int32)
    /// Writes what was answered.
    func flush()
}

/// An answer that waits for its time.
struct DelayedAnswer {
    /// When it is due, in nanoseconds of the event loop's clock.
    var due: UInt64
    var connection: any AnsweringConnection
    var streamID: Int32
    var judgement: Judgement
    /// The sender's id.
    var id: [UInt8]
    /// The push was recorded when it came; otherwise it is only now, if its connection is still there.
    var isTaken: Bool
}

/// Answers by the moment at which they leave. Those that are due at about the same moment leave together, so that a thousand delayed
/// answers need no thousand flushes.
struct AnswerQueue {
    /// Answers that leave together are due within half a millisecond, or within some 2 % of their delay, if that is more…
    private static var shortest: UInt64 { 500_000 }
    private static var share: UInt64 { 50 }
    /// …and at most so many times as long, as a flush is cheap by then. Each is twice the one before, so that answers with different delays
    /// share their moments.
    private static var most: UInt64 { 8 }

    private var moments: [UInt64: [DelayedAnswer]] = [:]
    /// The keys of `moments` as a binary heap.
    private var heap: [UInt64] = []

    /// When the first ones leave.
    var firstDue: UInt64? { heap.first }

    mutating func insert(_ answer: DelayedAnswer, delay: UInt64) {
        var together = Self.shortest
        while together < Self.most * Self.shortest, 2 * together <= delay / Self.share { together *= 2 }
        let moment = (answer.due + together - 1) / together * together
        if moments[moment]?.append(answer) == nil {
            moments[moment] = [answer]
            push(moment)
        }
    }

    /// Takes those that leave by then, moment by moment.
    mutating func take(dueBy time: UInt64) -> [[DelayedAnswer]] {
        var taken: [[DelayedAnswer]] = []
        while let first = heap.first, first <= time {
            pop()
            if let answers = moments.removeValue(forKey: first) { taken.append(answers) }
        }
        return taken
    }

    private mutating func push(_ moment: UInt64) {
        heap.append(moment)
        var child = heap.count - 1
        while child > 0, heap[child] < heap[(child - 1) / 2] {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    private mutating func pop() {
        let last = heap.removeLast()
        guard !heap.isEmpty else { return }
        heap[0] = last
        var parent = 0
        while true {
            var first = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && heap[child] < heap[first] {
                first = child
            }
            guard first != parent else { return }
            heap.swapAt(first, parent)
            parent = first
        }
    }
}
