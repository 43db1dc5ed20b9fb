import HTTP2
import NIOCore
import PushCore

/// The part that HTTP/2 gateways share: batches in, outcomes by batch out; everything here happens on the event loop.
final class GatewayEngine {
    /// What happens to requests that the HTTP/2 client gives back unsent.
    enum GivenBack {
        /// They are resolved as unprocessed.
        case resolve
        /// They are made anew with the token of now.
        case makeAnew
        /// They are resolved as refused.
        case refuse(TokenFailure)
    }

    /// Messages that may wait for a token; more are given back at once. 65,536 of them fill about 30 MB.
    static let maximumWaiting = 65_536

    let address: GatewayAddress
    let dialect: any GatewayDialect
    let eventLoop: any EventLoop
    var delegate: (any GatewayDelegate)?
    private(set) var client: HTTP2Client?
    private(set) var flights: [Int64: Flight] = [:]
    private var lastTag: Int64 = 0
    private(set) var waiting: [WaitingRows] = []
    private(set) var waitingCount = 0
    private var givenBack = GivenBack.resolve
    private var toMakeAnew: [WaitingRows] = []
    private var isStopping = false
    /// The generation of the token that messages were sent with last; 0 before the first.
    private var lastGeneration = 0
    private var reports: GatewayReports
    /// Who looks at the wire; nil as a rule.
    var tracer: (any GatewayTracer)?

    init(
        address: GatewayAddress,
        dialect: any GatewayDialect,
        eventLoop: any EventLoop,
        delegate: any GatewayDelegate
    ) {
        self.address = address
        self.dialect = dialect
        self.eventLoop = eventLoop
        self.delegate = delegate
        reports = GatewayReports(gateway: dialect.name, address: address)
    }

    func start(_ client: HTTP2Client) {
        self.client = client
        dialect.start { [weak self] in self?.tokenChanged($0) }
        for waitingRows in takeWaiting() { submit(waitingRows) }
    }

    // MARK: Messages in

    func submit(_ waitingRows: WaitingRows) {
        guard waitingRows.count > 0 else { return }
        if isStopping { return resolve([waitingRows], .unprocessed, reason: NoAnswerReason.cancelled) }
        // What comes before the start, or after one that failed, is kept until it is sent or taken back.
        guard client != nil else { return wait(waitingRows) }
        switch dialect.authorization() {
        case .ready(let token):
            if dialect.bindsTokenToConnection, lastGeneration != 0, token.generation > lastGeneration {
                return startAnew(with: waitingRows)
            }
            send(waitingRows, token)
        case .waiting: wait(waitingRows)
        case .refused(let failure): refuse([waitingRows], failure)
        }
    }

    private func send(_ waitingRows: WaitingRows, _ token: AuthorizationToken) {
        lastGeneration = token.generation
        let made = dialect.flights(waitingRows.batch, rows: waitingRows.rows, token: token) {
            lastTag += 1
            return lastTag
        }
        for flight in made {
            flights[flight.requests.tag] = flight
            flight.requests.isUrgent = waitingRows.batch.isUrgent
            if let tracer { choose(from: flight, for: tracer) }
            client?.submit(flight.requests)
        }
    }

    private func wait(_ waitingRows: WaitingRows) {
        guard waitingCount + waitingRows.count <= Self.maximumWaiting else {
            return resolve([waitingRows], .unprocessed, reason: NoAnswerReason.queueFull)
        }
        waitingCount += waitingRows.count
        waiting.append(waitingRows)
    }

    private func takeWaiting() -> [WaitingRows] {
        defer {
            waiting = []
            waitingCount = 0
        }
        return waiting
    }

    // MARK: Tokens

    private func tokenChanged(_ change: AccessTokenRefresh.Change) {
        switch change {
        case .ready:
            tell(reports.tokenReady())
            for waitingRows in takeWaiting() { submit(waitingRows) }
        case .refused(let failure):
            tell(reports.tokenRefused(failure))
            refuse(takeWaiting(), failure)
            takeBackQueued(.refuse(failure))
        case .unavailable(let failure, let delay):
            tell(reports.tokenUnavailable(failure, retryInMilliseconds: delay))
        }
    }

    private func refuse(_ rows: [WaitingRows], _ failure: TokenFailure) {
        resolve(rows, .stopApplication, status: failure.status, reason: failure.reason, applicationWide: true)
    }

    /// Sends what waits, and these messages, with the token of now; on new connections where the gateway wants that.
    private func startAnew(with waitingRows: WaitingRows?) {
        if case .ready(let token) = dialect.authorization() { lastGeneration = token.generation }
        // First the connections, so that none of them gets the new token.
        if dialect.bindsTokenToConnection { client?.retireConnections() }
        if let waitingRows { toMakeAnew.append(waitingRows) }
        takeBackQueued(.makeAnew)
    }

    /// Takes back what the client has not sent and does with it as told.
    ///
    /// The client works in the order of the loop's tasks, so the mode is set around its own task.
    private func takeBackQueued(_ mode: GivenBack) {
        let loop = eventLoop.assumeIsolated()
        loop.execute { [weak self] in self?.givenBack = mode }
        client?.cancelQueued()
        loop.execute { [weak self] in
            guard let self else { return }
            givenBack = .resolve
            let rows = toMakeAnew
            toMakeAnew = []
            for waitingRows in rows { submit(waitingRows) }
        }
    }

    // MARK: Messages out

    func completed(_ completions: [HTTP2Completion]) {
        if let tracer { show(completions, to: tracer) }
        var resolved = ResolvedBatches(expected: completions.count)
        var work = FollowUp()
        var flight: Flight?
        for completion in completions {
            if flight == nil || flight?.requests !== completion.batch { flight = flights[completion.batch.tag] }
            guard let flight else { continue }
            flight.open -= 1
            if flight.open == 0 { flights[flight.requests.tag] = nil }
            if let outcome = outcome(of: completion, flight, &work) {
                resolved.add(outcome, completion.latencyMicroseconds, flight.batch)
            }
        }
        if !resolved.all.isEmpty { delegate?.resolved(resolved.all) }
        follow(work)
    }

    private func outcome(of completion: HTTP2Completion, _ flight: Flight, _ work: inout FollowUp) -> Outcome? {
        let row = flight.row(completion.index)
        switch completion.result {
        case .response(let response) where response.status == 200:
            guard let outcome = dialect.accepted(response, row: row, flight: flight) else { return malformed(row) }
            work.hasAccepted = true
            return outcome
        case .response(let response):
            let decision = dialect.refused(response, row: row, flight: flight)
            work.note(decision, of: flight.batch.deliveryID)
            return decision.outcome
        case .unprocessed(let failure):
            return unprocessed(failure, row, flight)
        case .ambiguous(let failure):
            return unanswered(row, .ambiguous, failure.cause)
        }
    }

    private func unprocessed(_ failure: HTTP2Failure, _ row: Int32, _ flight: Flight) -> Outcome? {
        if failure.cause == .cancelled {
            switch givenBack {
            case .resolve: break
            case .makeAnew:
                if let last = toMakeAnew.last, last.batch === flight.batch, last.rows != nil {
                    toMakeAnew[toMakeAnew.count - 1].rows?.append(row)
                } else {
                    toMakeAnew.append(WaitingRows(batch: flight.batch, rows: [row]))
                }
                return nil
            case .refuse(let failure):
                return Outcome(
                    index: row,
                    outcomeClass: .stopApplication,
                    status: failure.status,
                    reason: failure.reason,
                    applicationWide: true,
                    neverLeft: true
                )
            }
        }
        return unanswered(row, .unprocessed, failure.cause)
    }

    private func follow(_ work: FollowUp) {
        if work.hasAccepted, reports.isInTrouble { tell(reports.accepted()) }
        if !work.texts.isEmpty { delegate?.refused(work.texts) }
        for decision in work.decisions { tell(reports.answer(decision)) }
        if work.decisions.contains(where: { $0.row.application == .pause }) { client?.backOff() }
        if work.makesWaitingAnew {
            startAnew(with: nil)
        } else if work.replacesConnections, reports.mayReplaceConnections() {
            client?.retireConnections()
        }
    }

    /// Resolves messages that were not handed to the client.
    private func resolve(
        _ rows: [WaitingRows],
        _ outcomeClass: OutcomeClass,
        status: Int16 = 0,
        reason: String,
        applicationWide: Bool = false
    ) {
        for waitingRows in rows {
            let outcomes = waitingRows.indexes.map { index in
                Outcome(
                    index: index,
                    outcomeClass: outcomeClass,
                    status: status,
                    reason: reason,
                    applicationWide: applicationWide,
                    neverLeft: true
                )
            }
            let latencies = [UInt32](repeating: 0, count: outcomes.count)
            delegate?.resolved(waitingRows.batch, outcomes, latencyMicroseconds: latencies)
        }
    }

    private func tell(_ event: GatewayEvent?) {
        if let event { delegate?.gatewayEvent(event) }
    }

    // MARK: Connections and the end

    func connectionEvent(_ event: HTTP2ConnectionEvent) {
        guard !isStopping else { return }
        switch event {
        case .opened(let address): tell(reports.opened(address))
        case .dialFailed(let reason, let attempt, let delay):
            tell(reports.certificateRefused(reason) ?? reports.dialFailed(reason, attempt, delay))
        case .limitChanged(let streams): tell(reports.limited(streams))
        case .capacityChanged(let streams): delegate?.capacityChanged(streams)
        case .goAway(let code, _, let debugData, let wasInUse): goAway(code, debugData, wasInUse)
        case .closed(let reason): tell(reports.closed(reason))
        }
    }

    private func goAway(_ code: HTTP2ErrorCode, _ debugData: [UInt8], _ wasInUse: Bool) {
        var (reason, row) = dialect.goAway(debugData: debugData)
        // A connection that was replaced may carry an older token than the last one, of which it says nothing.
        let isRejected = row.application == .renewToken && wasInUse && lastGeneration > 0
        let makesWaitingAnew = isRejected && dialect.tokenRejected(generation: lastGeneration, &row)
        tell(reports.goAway(code, reason, row))
        if makesWaitingAnew { startAnew(with: nil) }
    }

    /// Ends the pause between attempts to fetch a token.
    func retryNow() {
        dialect.retryNow()
    }

    /// Gives back what has not been written.
    func cancelQueued() {
        resolve(takeWaiting(), .unprocessed, reason: NoAnswerReason.cancelled)
        client?.cancelQueued()
    }

    /// Takes nothing more; the client's shutdown resolves what is on the wire.
    func beginStopping() {
        isStopping = true
        dialect.stop()
        cancelQueued()
    }
}

/// What is about to leave, in the owner's terms.
extension GatewayEngine {
    /// Asks the owner whether messages may leave.
    func aboutToSend(_ requests: [HTTP2Departure]) -> Bool {
        var departures: [GatewayDeparture] = []
        for departure in requests {
            guard let flight = flights[departure.batch.tag] else { continue }
            // A batch can be several flights, which mostly follow one another.
            if departures.last?.batch !== flight.batch {
                departures.append(GatewayDeparture(batch: flight.batch, ranges: []))
            }
            flight.appendRows(departure.range, to: &departures[departures.count - 1].ranges)
        }
        guard let delegate, delegate.aboutToSend(departures) else { return false }
        CrashPoint.beforeWrite.reached()
        return true
    }
}

/// What people see of the wire.
extension GatewayEngine {
    /// Notes which messages somebody wants to see, before they leave.
    private func choose(from flight: Flight, for tracer: any GatewayTracer) {
        let tokens = flight.batch.tokens
        flight.watched = tracer.choose(from: flight.requests.count, ofDelivery: flight.batch.deliveryID) {
            tokens[Int(flight.row(Int32($0)))]
        }
        if !flight.watched.isEmpty { flight.requests.keepAnswerFields(of: flight.watched.keys) }
    }

    /// Shows exchanges that have ended to whoever asked for them; before their outcomes are known.
    private func show(_ completions: [HTTP2Completion], to tracer: any GatewayTracer) {
        var flight: Flight?
        for completion in completions {
            if flight == nil || flight?.requests !== completion.batch { flight = flights[completion.batch.tag] }
            // Most have nobody who looks: a hash of each index would be a hash a message.
            guard let flight, !flight.watched.isEmpty,
                let traces = flight.watched.removeValue(forKey: completion.index)
            else { continue }
            // What was never written was not on the wire.
            guard completion.latencyMicroseconds > 0 else { continue }
            let token = flight.batch.tokens[Int(flight.row(completion.index))]
            tracer.saw(CopiedExchange(completion, deliveryID: flight.batch.deliveryID, token: token), for: traces)
        }
    }
}

/// Outcomes of messages about which the gateway has said nothing.
extension GatewayEngine {
    func unanswered(_ row: Int32, _ outcomeClass: OutcomeClass, _ cause: HTTP2Failure.Cause) -> Outcome {
        let isWritten = outcomeClass == .ambiguous
        let reason = NoAnswerReason.text(cause, isWritten: isWritten)
        let meaning = AnswerTable.noAnswer(dialect.answers, reason: reason, isWritten: isWritten)
        return Outcome(
            index: row,
            outcomeClass: outcomeClass,
            reason: reason,
            failure: meaning.failure,
            neverLeft: cause == .cancelled
        )
    }

    /// A 200 that is not the gateway's: a proxy or a page in its place has taken the message, or has thrown it away.
    func malformed(_ row: Int32) -> Outcome {
        let meaning = AnswerTable.malformed(dialect.answers)
        return Outcome(
            index: row,
            outcomeClass: meaning.outcomeClass,
            status: 200,
            reason: NoAnswerReason.malformed,
            failure: meaning.failure
        )
    }
}

/// Messages of one batch that wait for a token.
struct WaitingRows {
    var batch: GatewayRequestBatch
    /// The rows that wait; nil for all.
    var rows: [Int32]?

    var count: Int { rows?.count ?? batch.count }

    /// The rows that wait, spelled out.
    var indexes: [Int32] { rows ?? Array(0..<Int32(batch.count)) }
}
