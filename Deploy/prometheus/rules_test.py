"""Tests of pushmta.rules.yml, as a file of promtool's: first a site that is well, in which no alert fires; then one fault each, of which
the alert fires and no other.

    python3 rules_test.py > /tmp/rules.test.yml && promtool test rules /tmp/rules.test.yml
"""

import json
import pathlib
import re

RULES = pathlib.Path(__file__).with_name("pushmta.rules.yml")

# Series of a site that is well, a value a minute.
WELL = {
    'up{job="pushmta-supervisor",instance="h1"}': "1+0x90",
    'up{job="pushmta-supervisor",instance="h2"}': "1+0x90",
    'up{job="pushmta-web",instance="h1"}': "1+0x90",
    'pushmta_database_up{job="pushmta-supervisor",instance="h1"}': "1+0x90",
    'pushmta_hosts{health="alive",instance="h1"}': "2+0x90",
    'pushmta_hosts{health="gone",instance="h1"}': "0+0x90",
    'pushmta_host_gone{host="h1",instance="h1"}': "0+0x90",
    'pushmta_host_gone{host="h2",instance="h1"}': "0+0x90",
    'pushmta_supervisor_claiming{instance="h1"}': "1+0x90",
    'pushmta_circuit_state{app="shop",instance="h1"}': "0+0x90",
    'pushmta_trouble_state{app="shop",gateway="ios-http2",instance="h1"}': "0+0x90",
    'pushmta_queue_age_seconds{app="shop",lane="transactional",instance="h1"}': "2+0x90",
    'pushmta_queue_age_seconds{app="shop",lane="bulk",instance="h1"}': "60+0x90",
    'pushmta_ready_messages{app="shop",lane="bulk",instance="h1"}': "5000+0x90",
    'pushmta_claimed_messages{app="shop",lane="bulk",instance="h1"}': "3000+0x90",
    'pushmta_alarms{code="lock_held",severity="critical",instance="h1"}': "0+0x90",
    'pushmta_alarms{code="delivery_paused",severity="warning",instance="h1"}': "0+0x90",
    'pushmta_alarms{code="delivery_returned",severity="warning",instance="h1"}': "0+0x90",
    'pushmta_alarms{code="credential_expiry",severity="warning",instance="h1"}': "1+0x90",
    'pushmta_alarms{code="token_events_waiting",severity="critical",instance="h1"}': "0+0x90",
    'pushmta_deliveries{state="in_progress",instance="h1"}': "3+0x90",
    'pushmta_messages_total{app="shop",outcome="sent",instance="h1"}': "0+60000x90",
    'pushmta_messages_total{app="shop",outcome="failed",instance="h1"}': "0+600x90",
    'pushmta_ambiguous_total{app="shop",decision="resent",instance="h1"}': "0+5x90",
    'pushmta_quota_used_ratio{scope="project",name="p",instance="h1"}': "0.4+0x90",
    'pushmta_rate_in_use{app="shop",instance="h1"}': "0+0x90",
    # A configured rate holds a delivery up for hours.
    'pushmta_rate_in_use{app="slow",instance="h1"}': "1+0x90",
    'pushmta_queue_age_seconds{app="slow",lane="bulk",instance="h1"}': "0+60x90",
    'pushmta_credential_expiry_seconds{app="shop",instance="h1"}': "8000000-60x90",
    'pushmta_journal_writable{instance="h1"}': "1+0x90",
    'pushmta_journal_disk_free_bytes{instance="h1"}': "1000000000000+0x90",
    'pushmta_journals_put_aside{instance="h1"}': "0+0x90",
    'pushmta_throttled_kinds{instance="h1"}': "0+0x90",
    'pushmta_children_ended_total{reason="idle",instance="h1"}': "0+3x90",
    'pushmta_children_ended_total{reason="signalled",instance="h1"}': "0+0x90",
    'pushmta_database_seconds_bucket{operation="store",le="0.016384",instance="h1"}': "0+600x90",
    'pushmta_database_seconds_bucket{operation="store",le="+Inf",instance="h1"}': "0+600x90",
    'pushmta_replication_lag_seconds{replica="r",instance="h1"}': "0.1+0x90",
    'pushmta_oldest_snapshot_seconds{instance="h1"}': "3+0x90",
    'pushmta_dead_rows{table="delivery_part",instance="h1"}': "9000+0x90",
    'pushmta_feedback_workers_acting{instance="h1"}': "1+0x90",
    'pushmta_token_event_age_seconds{instance="h1"}': "5+0x90",
    'pushmta_retention_holds{instance="h1"}': "0+0x90",
    'pushmta_spool_bytes{instance="h1"}': "0+0x90",
    'pushmta_spool_capacity_bytes{instance="h1"}': "524288000+0x90",
    'pushmta_spool_waiting_bytes{instance="h1"}': "0+0x90",
    'pushmta_web_requests_total{endpoint="tracking",code="200",instance="h1"}': "0+60000x90",
    'pushmta_web_requests_total{endpoint="tracking",code="503",instance="h1"}': "0+0x90",
    'pushmta_web_certificate_expiry_seconds{instance="h1"}': "8000000-60x90",
    'process_open_fds{job="pushmta-web",instance="h1"}': "300+0x90",
    'process_max_fds{job="pushmta-web",instance="h1"}': "65536+0x90",
    'pushmta_build_info{process="supervisor",version="1.0.0",instance="h1"}': "1+0x90",
    'pushmta_build_info{process="web",version="1.0.0",instance="h1"}': "1+0x90",
    'pushmta_database_figures_age_seconds{instance="h1"}': "5+0x90",
}


def alarm(code, severity="critical"):
    return f'pushmta_alarms{{code="{code}",severity="{severity}",instance="h1"}}'


# An alert: what is different, when it has to fire, the labels that it has.
FAULTS = {
    "PushmtaProcessDown": ({'up{job="pushmta-supervisor",instance="h2"}': "0+0x90"}, "5m",
                           {"job": "pushmta-supervisor", "instance": "h2"}),
    "PushmtaDatabaseUnreachable": ({'pushmta_database_up{job="pushmta-supervisor",instance="h1"}': "0+0x90"}, "5m",
                                   {"job": "pushmta-supervisor", "instance": "h1"}),
    "PushmtaHostGone": ({alarm("host_gone"): "1+0x90", 'pushmta_host_gone{host="h2",instance="h1"}': "1+0x90"}, "5m", {"host": "h2"}),
    "PushmtaNoSupervisor": ({'pushmta_supervisor_claiming{instance="h1"}': "0+0x90"}, "5m", {}),
    # The queue grows, too, and says nothing that the circuit does not. Nor does the alarm, here and below.
    "PushmtaCircuitOpen": ({alarm("circuit_open"): "1+0x90",
                            'pushmta_circuit_state{app="shop",instance="h1"}': "1+0x90",
                            'pushmta_queue_age_seconds{app="shop",lane="transactional",instance="h1"}': "0+60x90"}, "20m",
                           {"app": "shop"}),
    "PushmtaGatewayTrouble": ({alarm("gateway_trouble"): "1+0x90",
                               'pushmta_trouble_state{app="shop",gateway="ios-http2",instance="h1"}': "2+0x90",
                               'pushmta_queue_age_seconds{app="shop",lane="bulk",instance="h1"}': "0+600x90"}, "20m",
                              {"app": "shop", "gateway": "ios-http2"}),
    "PushmtaQueueOld": ({'pushmta_queue_age_seconds{app="shop",lane="transactional",instance="h1"}': "0+60x90"}, "10m",
                        {"app": "shop", "lane": "transactional"}),
    "PushmtaBulkQueueOld": ({'pushmta_queue_age_seconds{app="shop",lane="bulk",instance="h1"}': "0+60x90"}, "40m",
                            {"app": "shop", "lane": "bulk"}),
    "PushmtaLockHeld": ({'pushmta_alarms{code="lock_held",severity="critical",instance="h1"}': "1+0x90"}, "5m", {"code": "lock_held"}),
    "PushmtaDeliveryWaits": ({'pushmta_alarms{code="delivery_paused",severity="warning",instance="h1"}': "1+0x90"}, "20m",
                             {"code": "delivery_paused"}),
    "PushmtaEventsWait": ({alarm("consumer_away", "warning"): "1+0x90"}, "20m", {"code": "consumer_away"}),
    "PushmtaDeliveryReturned": ({alarm("delivery_returned", "warning"): "2+0x90"}, "5m", {}),
    "PushmtaDeliveriesUnprepared": ({alarm("deliveries_unprepared", "warning"): "1+0x90"}, "5m", {}),
    "PushmtaDeliveryUnapproved": ({alarm("delivery_unapproved", "warning"): "1+0x90"}, "5m", {}),
    "PushmtaTokensDoubted": ({alarm("tokens_doubted"): "1+0x90"}, "5m", {}),
    "PushmtaCredentialRefused": ({alarm("credential_refused"): "1+0x90"}, "5m", {}),
    "PushmtaStartsWithoutSends": ({alarm("starts_without_sends"): "1+0x90"}, "5m", {}),
    "PushmtaCriticalAlarm": ({alarm("host_alarm"): "1+0x90"}, "5m", {"code": "host_alarm"}),
    "PushmtaManyFailures": ({'pushmta_messages_total{app="shop",outcome="failed",instance="h1"}': "0+40000x90"}, "20m",
                            {"app": "shop"}),
    "PushmtaAmbiguousMessages": ({'pushmta_ambiguous_total{app="shop",decision="resent",instance="h1"}': "0+500x90"}, "20m",
                                 {"app": "shop"}),
    "PushmtaQuotaUsed": ({'pushmta_quota_used_ratio{scope="project",name="p",instance="h1"}': "0.99+0x90"}, "20m",
                         {"scope": "project", "name": "p"}),
    "PushmtaCredentialExpires": ({alarm("credential_expiry"): "1+0x90",
                                  'pushmta_credential_expiry_seconds{app="shop",instance="h1"}': "900000-60x90"}, "5m",
                                 {"app": "shop"}),
    "PushmtaJournalDisk": ({alarm("host_alarm"): "1+0x90", 'pushmta_journal_writable{instance="h1"}': "0+0x90",
                            'pushmta_journal_disk_free_bytes{instance="h1"}': "1000000+0x90"}, "5m", {"instance": "h1"}),
    "PushmtaJournalsPutAside": ({'pushmta_journals_put_aside{instance="h1"}': "2+0x90"}, "5m", {"instance": "h1"}),
    "PushmtaChildrenDie": ({'pushmta_children_ended_total{reason="signalled",instance="h1"}': "0+1x90"}, "20m",
                           {"instance": "h1", "reason": "signalled"}),
    "PushmtaDatabaseSlow": ({'pushmta_database_seconds_bucket{operation="store",le="0.016384",instance="h1"}': "0+0x90",
                             'pushmta_database_seconds_bucket{operation="store",le="2.097152",instance="h1"}': "0+600x90"},
                            "20m", {"operation": "store"}),
    "PushmtaReplicationLag": ({'pushmta_replication_lag_seconds{replica="r",instance="h1"}': "60+0x90"}, "10m",
                              {"replica": "r"}),
    "PushmtaOldSnapshot": ({'pushmta_oldest_snapshot_seconds{instance="h1"}': "0+60x90"}, "80m", {}),
    "PushmtaNoFeedbackWorker": ({'pushmta_feedback_workers_acting{instance="h1"}': "0+0x90"}, "10m", {}),
    "PushmtaRetentionHeld": ({'pushmta_retention_holds{instance="h1"}': "1+0x90"}, "10m", {}),
    "PushmtaSpoolFills": ({'pushmta_spool_bytes{instance="h1"}': "400000000+0x90"}, "5m", {"instance": "h1"}),
    "PushmtaWebErrors": ({'pushmta_web_requests_total{endpoint="tracking",code="503",instance="h1"}': "0+6000x90"}, "20m",
                         {"instance": "h1"}),
    "PushmtaWebCertificateExpires": ({alarm("certificate_expiry"): "1+0x90",
                                      'pushmta_web_certificate_expiry_seconds{instance="h1"}': "900000-60x90"}, "5m",
                                     {"instance": "h1"}),
    "PushmtaDescriptors": ({'process_open_fds{job="pushmta-web",instance="h1"}': "60000+0x90"}, "10m",
                           {"job": "pushmta-web", "instance": "h1"}),
    "PushmtaVersionsMixed": ({'pushmta_build_info{process="web",version="1.1.0",instance="h2"}': "1+0x90"}, "80m", {}),
    "PushmtaFiguresOld": ({'pushmta_database_figures_age_seconds{instance="h1"}': "0+60x90"}, "10m", {"instance": "h1"}),
}

# Whatever fires, one sample each.
FIRING = ('sort(count by (alertname, app, code, gateway, host, instance, job, lane, name, operation, reason, replica, scope) '
          '(ALERTS{alertstate="firing"}))')


def case(name, series, *checks):
    return {
        "name": name,
        "interval": "1m",
        "input_series": [{"series": key, "values": values} for key, values in series.items()],
        "promql_expr_test": [
            {"expr": FIRING, "eval_time": at,
             "exp_samples": [{"labels": "{" + ",".join(f'{k}="{v}"' for k, v in labels.items()) + "}", "value": 1}
                             for labels in expected]}
            for at, expected in checks
        ],
    }


def main():
    alerts = re.findall(r"alert: (\w+)", RULES.read_text())
    missing = set(alerts) ^ set(FAULTS)
    if missing:
        raise SystemExit(f"alerts without a fault here, or the other way round: {', '.join(sorted(missing))}")
    tests = [case("all is well", WELL, ("10m", []), ("80m", []))]
    # A handful of errors of a site with little to do is no reason to wake an operator.
    few = {'pushmta_web_requests_total{endpoint="tracking",code="200",instance="h1"}': "0+10x90",
           'pushmta_web_requests_total{endpoint="tracking",code="503",instance="h1"}': "0x10 3x79"}
    tests.append(case("three errors", WELL | few, ("12m", []), ("14m", [])))
    for alert, (fault, at, labels) in FAULTS.items():
        tests.append(case(alert, WELL | fault, (at, [{"alertname": alert, **labels}])))
    # JSON is YAML, too.
    print(json.dumps({"rule_files": [str(RULES.resolve())], "evaluation_interval": "1m", "tests": tests}, indent=1))


main()
