import NIOCore

extension GatewayLoop {
    /// Answers that are due within this time leave together, so that a thousand delayed answers need no thousand flushes.
    private static var tick: UInt64 { 500_000 }

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
        answersGiven += 1
        let answer = DelayedAnswer(
            due: time + delay,
            number: answersGiven,
            connection: connection,
            streamID: streamID,
            judgement: judgement,
            id: id,
            isTaken: isTaken
        )
        if delay == 0, stallEnds != nil {
            held.append(answer)
        } else {
            queue.insert(answer)
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
        send(answers)
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
        var due: [DelayedAnswer<Rules>] = []
        while let answer = queue.take(dueBy: time + Self.tick) { due.append(answer) }
        if stallEnds != nil { held += due } else { send(due) }
        schedule()
        if let end = stallEnds, end != .max { schedule(at: end) }
    }

    private func send(_ answers: [DelayedAnswer<Rules>]) {
        var touched: [ObjectIdentifier: GatewayConnection<Rules>] = [:]
        for answer in answers {
            let isOpen = answer.connection.isOpen(streamID: answer.streamID)
            if answer.isTaken {
                if isOpen { noteAnswered(answer.judgement) }
            } else {
                let code = isOpen ? answer.judgement.code : AnswerCatalog.unanswered
                note(answer.judgement, answer: code, isAccepted: isOpen, isAnswered: isOpen)
            }
            guard isOpen else { continue }
            answer.connection.answer(answer.judgement, id: answer.id[...], streamID: answer.streamID)
            touched[ObjectIdentifier(answer.connection)] = answer.connection
        }
        commit()
        for connection in touched.values { connection.flush() }
    }
}

/// An answer that waits for its time.
struct DelayedAnswer<Rules: GatewayRules> {
    /// When it is due, in nanoseconds of the event loop's clock.
    var due: UInt64
    /// Keeps answers of the same moment in order.
    var number: UInt64
    var connection: GatewayConnection<Rules>
    var streamID: Int32
    var judgement: Judgement
    /// The sender's id.
    var id: [UInt8]
    /// The push was recorded when it came; otherwise it is only now, if its connection is still there.
    var isTaken: Bool

    func isBefore(_ other: DelayedAnswer) -> Bool {
        due != other.due ? due < other.due : number < other.number
    }
}

/// Answers by the time at which they are due: a binary heap.
struct AnswerQueue<Rules: GatewayRules> {
    private var heap: [DelayedAnswer<Rules>] = []

    var isEmpty: Bool { heap.isEmpty }

    /// When the first one is due.
    var firstDue: UInt64? { heap.first?.due }

    mutating func insert(_ answer: DelayedAnswer<Rules>) {
        heap.append(answer)
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].isBefore(heap[parent]) else { break }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    /// Takes the first answer if it is due by then.
    mutating func take(dueBy time: UInt64) -> DelayedAnswer<Rules>? {
        guard let first = heap.first, first.due <= time else { return nil }
        let last = heap.removeLast()
        guard !heap.isEmpty else { return first }
        heap[0] = last
        sink()
        return first
    }

    /// Takes them all, in order.
    mutating func takeAll() -> [DelayedAnswer<Rules>] {
        defer { heap = [] }
        return heap.sorted { $0.isBefore($1) }
    }

    private mutating func sink() {
        var parent = 0
        while true {
            var first = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && heap[child].isBefore(heap[first])
            {
                first = child
            }
            guard first != parent else { return }
            heap.swapAt(first, parent)
            parent = first
        }
    }
}
