import NIOCore

/// Holds a service account's access token on the gateway's event loop: runs what ``AccessTokenState`` decides.
final class AccessTokenKeeper {
    private let fetcher: AccessTokenFetcher
    private let eventLoop: any EventLoop
    private var state = AccessTokenState()
    private var isStopped = false
    /// Told when waiting messages can go, must be given back, or the operator has to know something.
    var onChange: ((Change) -> Void)?

    /// What the gateway has to know.
    enum Change {
        case ready(isFirst: Bool)
        case refused(TokenFailure)
        case unavailable(TokenFailure, retryInMilliseconds: Int64)
    }

    private var hadToken = false

    init(fetcher: AccessTokenFetcher, eventLoop: any EventLoop) {
        self.fetcher = fetcher
        self.eventLoop = eventLoop
    }

    /// Whether the current token replaced a refused one and has not been taken yet.
    var isUnproven: Bool { state.isUnproven }

    /// Asks for the token to send with now.
    func authorization() -> Authorization {
        if let token = state.usable(at: now()) {
            handle(.needed, tellsUse: false)
            return .ready(token)
        }
        handle(.needed, tellsUse: false)
        if let failure = state.refusal(at: now()) { return .refused(failure) }
        return .waiting
    }

    /// Fetches the first token before a message needs it.
    func start() {
        handle(.needed)
    }

    /// FCM refused the token of this generation; returns why sending has to stop, nil when it goes on.
    func rejected(generation: Int) -> TokenFailure? {
        handle(.rejected(generation: generation))
        return state.refusal(at: now())
    }

    /// FCM took a message with the token of this generation.
    func accepted(generation: Int) {
        handle(.accepted(generation: generation))
    }

    /// Whether the token of this generation is the one in use.
    func isCurrent(generation: Int) -> Bool {
        state.token?.generation == generation
    }

    /// Ends the pause between attempts.
    func retryNow() {
        handle(.retryNow)
    }

    /// Fetches nothing more.
    func stop() {
        isStopped = true
        onChange = nil
    }

    private func now() -> Int64 {
        Int64(clamping: NIODeadline.now().uptimeNanoseconds / 1_000_000)
    }

    private func handle(_ event: AccessTokenState.Event, tellsUse: Bool = true) {
        guard !isStopped else { return }
        for action in state.handle(event, at: now()) {
            switch action {
            case .fetch: fetch()
            case .use:
                guard tellsUse else { continue }
                onChange?(.ready(isFirst: !hadToken))
                hadToken = true
            case .wakeUp(let moment): wakeUp(at: moment)
            case .stop(let failure):
                if tellsUse { onChange?(.refused(failure)) }
            case .report(let failure, let moment):
                onChange?(.unavailable(failure, retryInMilliseconds: max(0, moment - now())))
            }
        }
    }

    private func wakeUp(at moment: Int64) {
        eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(max(0, moment - now()))) { [weak self] in
            self?.handle(.wakeUp)
        }
    }

    private func fetch() {
        let fetcher = fetcher
        eventLoop.makeFutureWithTask { await fetcher.fetch() }
            .assumeIsolated()
            .whenSuccess { [weak self] result in
                switch result {
                case .success(let grant):
                    self?.handle(.fetched(text: grant.token, expiresInSeconds: grant.expiresInSeconds))
                case .failure(let failure):
                    self?.handle(.failed(failure, jitter: Double.random(in: 0..<1)))
                }
            }
    }
}
