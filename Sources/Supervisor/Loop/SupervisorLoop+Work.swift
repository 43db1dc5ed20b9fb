import Logging
import Store
import Synchronization

extension SupervisorLoop {
    /// Tells the plan what can be claimed, and what kinds could be kept in stock.
    func lookForWork(_ store: Store) async throws {
        let spawn = settings.withLock(\.spawn)
        if spawn.minSpareServers > 0 || spawn.startSpareServers > 0 {
            let kinds = try await store.childKinds().map { kind in
                ChildKind(applicationID: kind.applicationID, accountID: kind.accountID, connector: kind.connector)
            }
            tell(.kinds(kinds))
        }
        try await lookForStandingKinds(store)
        let work = try await store.readyWork().map { ready in
            WorkOnOffer(
                kind: ChildKind(
                    applicationID: ready.applicationID,
                    accountID: ready.accountID,
                    connector: ready.connector
                ),
                readyParts: ready.readyParts,
                priority: Int(ready.highestPriority)
            )
        }
        tell(.work(work))
    }

    /// The feedback worker does it. While none acts, whoever prepares deliveries does it, so that dead tokens are not sent to forever
    /// where none was set up.
    func applyTokenEvents(_ store: Store) async throws -> Duration {
        if try await store.isFeedbackWorkerActing() { return Self.tokenInterval }
        let rules = settings.withLock(\.quarantine)
        let decided = try await store.applyTokenEvents(limit: Self.restLimit, rules: rules)
        return decided >= Self.restLimit ? .zero : min(pollInterval, Self.tokenInterval)
    }

    func finishDeliveries(_ store: Store) async throws {
        for delivery in try await store.finishDeliveries() {
            logger.info("Delivery \(delivery) is finished")
        }
    }

    /// Tells the plan which applications an operator has resumed since the last look.
    func lookForResumptions(_ store: Store) async throws {
        let seen = try await store.resumptions()
        let resumed = resumptions.withLock { before in
            defer { before = seen }
            return before.map { before in seen.filter { before[$0.key] != $0.value }.keys } ?? [:].keys
        }
        if !resumed.isEmpty { tell(.resumed(applications: Set(resumed))) }
    }

    /// Another host's children may be sending, or nobody while a retry or a probe is not due yet: then all look often.
    func lookForOpenDeliveries(_ store: Store) async throws {
        let hasOpen = try await store.hasOpenDeliveries()
        let isNew = hasOpen && !condition.current.hasOpenDeliveries
        condition.update { $0.hasOpenDeliveries = hasOpen }
        guard isNew else { return }
        workBell.ring()
        restBell.ring()
    }

    /// Passes wake-ups on until the connection fails; what may have been missed before it listened is looked for at once.
    func listen(_ store: Store) async throws -> Duration {
        let listener = try await store.listen()
        wake()
        do {
            while !Task.isCancelled {
                switch try await listener.nextWakeUp(deadline: .now + Self.listenInterval) {
                case .message?: messageCame()
                case .resume?:
                    wake()
                    routeBell.ring()
                case .change?: wake()
                case nil: break
                }
            }
        } catch {
            await listener.close()
            throw error
        }
        await listener.close()
        return .zero
    }

    private func wake() {
        preparationBell.ring()
        workBell.ring()
        restBell.ring()
        // A host that was idle looks seldom whether a delivery has come to its end; one that is resumed may do so in a second.
        finishBell.ring()
        beatBell.ring()
        tell(.wake(detail: nil))
    }
}
