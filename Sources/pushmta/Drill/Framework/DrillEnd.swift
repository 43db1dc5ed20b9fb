import Foundation
import Store
import Synchronization

/// The end of a drill: what processes and folders have to look like, and their removal.
struct DrillEnd: Sendable {
    /// How long a process that has ended may wait for its parent to take note of it.
    private static let zombieLimit = Duration.seconds(5)
    /// How long children whose supervisor is gone may take to end by themselves.
    private static let orphanLimit = Duration.seconds(60)

    /// The drill's site.
    let site: DrillSite

    /// No supervisor may leave a child that has ended without taking note of it.
    func checkProcesses() async {
        for host in site.hosts {
            guard let supervisor = host.supervisorID else { continue }
            do {
                try await site.until("the supervisor of host \(host.name) leaves no zombie", within: Self.zombieLimit) {
                    ProcessRecord.zombies(of: supervisor).isEmpty
                }
            } catch {
                site.finding("\(error): \(ProcessRecord.zombies(of: supervisor))")
            }
        }
    }

    /// Asks every host to end; no child may outlive it and no journal be left over.
    func stopHosts() async {
        await withTaskGroup { group in
            for host in site.hosts { group.addTask { await stop(host) } }
        }
    }

    private func stop(_ host: DrillHost) async {
        do {
            try await host.stop()
            try await site.until(
                "the last child of host \(host.name) ends",
                within: Self.orphanLimit,
                every: .milliseconds(200)
            ) {
                host.childIDs().isEmpty
            }
        } catch {
            site.finding("\(error)")
            try? await host.killAll()
        }
        let journals = host.journals()
        site.expect(journals.isEmpty, "host \(host.name) has left journals behind: \(journals.joined(separator: ", "))")
        let aside = host.putAside()
        site.expect(aside.isEmpty, "host \(host.name) has put journals aside: \(aside.joined(separator: ", "))")
    }

    /// Looks at each delivery once more, now that nothing changes.
    func lastLook() async {
        guard let store = try? site.store() else { return }
        for delivery in site.deliveries { _ = await site.watcher.look(store, delivery.id) }
    }

    /// Ends everything that is left and removes the site unless it is to be kept; also when the task is cancelled, as the
    /// detached one is not.
    func remove() async {
        let site = site
        await Task.detached {
            for task in site.tasks.withLock({ $0 }) { task.cancel() }
            for host in site.hosts { try? await host.killAll() }
            try? await site.simulator.process.kill()
            for task in site.tasks.withLock({ $0 }) { await task.value }
            await site.state.withLock { $0.store }?.close()
            try? await site.cluster.stop(.immediate)
            for ending in site.state.withLock({ $0.endings }).reversed() { await ending() }
            if site.options.keeps {
                StandardError.write("The folder of \(site.name) is kept: \(site.folder)\n")
            } else {
                try? site.cluster.remove()
                try? FileManager.default.removeItem(atPath: site.folder)
            }
        }.value
    }
}
