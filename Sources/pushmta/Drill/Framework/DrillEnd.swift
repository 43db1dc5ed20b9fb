import Foundation
import Store
import Synchronization

/// The end of a drill: what processes and folders have to look like, and their removal.
struct DrillEnd: Sendable {
    /// How long children whose supervisor is gone may take to end by themselves.
    private static let orphanLimit = Duration.seconds(60)

    /// The drill's site.
    let site: DrillSite

    /// Every supervisor lives until it is asked to end, and has left no zombie.
    func checkProcesses() async {
        for host in site.hosts where host.supervisorID == nil {
            site.finding("the supervisor of host \(host.name) is gone: \(host.place.supervisor.lastWords)")
        }
        await site.expectNoZombies()
    }

    /// Asks every host to end; no child may outlive it and no journal be left over.
    func stopHosts() async {
        await withTaskGroup { group in
            for host in site.hosts { group.addTask { await stop(host) } }
        }
    }

    private func stop(_ host: DrillHost) async {
        do {
            switch try await host.stop() {
            case .killed: site.finding("the supervisor of host \(host.name) did not end and was killed")
            case .failed(let words): site.finding("the supervisor of host \(host.name) ended with \(words)")
            case .orderly, .wasGone: break
            }
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
        for delivery in site.deliveries where await site.watcher.look(store, delivery.id) == nil {
            site.finding("delivery \(delivery.id) could not be looked at at the end")
        }
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
                DrillFolder.remove(site.folder, site.cluster)
            }
        }.value
    }
}
