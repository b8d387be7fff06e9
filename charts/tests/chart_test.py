#!/usr/bin/env python3
"""Tests of the charts: what Helm makes of them, without a cluster."""
import json
import pathlib
import re
import sys
import tempfile
import unittest

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "tools"), str(pathlib.Path(__file__).parent)]

import charts  # noqa: E402
import permissions  # noqa: E402

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def objects(chart, *args, values=None):
    """The rendered objects by (kind, name)."""
    text = charts.template(chart, *args, values=values)
    found = [o for o in yaml.load_all(text, LOADER) if o]
    return {(o["kind"], o["metadata"]["name"]): o for o in found}


def rendered(case):
    chart, name = case.split("/")
    return objects(chart, values=charts.VALUES / chart / f"{name}.yaml")


def kinds(found):
    return {kind for kind, _ in found}


# Nothing that API servers call.
OFF = [f"--set=enable{server}=false" for server in ("Webhooks", "Conversion", "Visibility")]


class Rendering(unittest.TestCase):
    def test_helm_finds_nothing_to_complain_of(self):
        for values in charts.VALUES.glob("*/*.yaml"):
            charts.run("lint", "--strict", charts.CHARTS / values.parent.name, "-f", values)

    def test_the_golden_files_and_the_manifests_are_current(self):
        for path, text in charts.generated().items():
            self.assertTrue(path.exists() and path.read_text() == text,
                            f"{path} is not what the charts make: run ./dev manifests")

    def test_every_object_has_a_name_of_its_own(self):
        for values in charts.VALUES.glob("*/*.yaml"):
            text = charts.template(values.parent.name, values=values)
            names = [(o["kind"], o["metadata"].get("namespace"), o["metadata"]["name"])
                     for o in yaml.load_all(text, LOADER) if o]
            self.assertEqual(len(names), len(set(names)), values)

    def test_the_versions_are_those_of_the_program(self):
        program = re.search(r"project\(regatta VERSION (\S+)",
                            (ROOT / "CMakeLists.txt").read_text())[1]
        for chart in ("regatta", "regatta-placement", "regatta-worker"):
            stated = yaml.safe_load((charts.CHARTS / chart / "Chart.yaml").read_text())
            self.assertEqual((stated["version"], stated["appVersion"]), (program, program), chart)

    def test_the_definitions_are_the_files_with_labels_and_stay_after_an_uninstall(self):
        found = objects("regatta", *OFF)
        files = list((charts.CHARTS / "regatta/files/crds").glob("*.yaml"))
        self.assertEqual(len(files), 11)
        for file in files:
            wanted = yaml.load(file.read_text(), LOADER)
            made = found["CustomResourceDefinition", wanted["metadata"]["name"]]
            self.assertEqual(made["spec"], wanted["spec"], file.name)
            self.assertEqual(made["metadata"]["annotations"], {"helm.sh/resource-policy": "keep"})
        gone = objects("regatta", "--set", "crds.keep=false")
        self.assertEqual(gone["CustomResourceDefinition", "workloads.kueue.x-k8s.io"]["metadata"]
                         .get("annotations") or {}, {})
        self.assertNotIn("CustomResourceDefinition",
                         kinds(objects("regatta", "--set", "crds.install=false")))

    def test_api_servers_call_the_manager_unless_values_say_otherwise(self):
        called = {"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration", "APIService"}
        rest = {"FlowSchema", "Certificate", "ServiceMonitor", "NetworkPolicy"}

        def converted(found):
            return {o["spec"]["names"]["plural"] for (kind, _), o in found.items()
                    if kind == "CustomResourceDefinition"
                    and o["spec"].get("conversion", {}).get("strategy") == "Webhook"}
        found = objects("regatta")
        self.assertEqual(kinds(found) & (called | rest), called)
        self.assertEqual(converted(found), {"clusterqueues", "cohorts", "localqueues",
                                            "multikueueclusters", "workloads"})
        found = objects("regatta", *OFF)
        self.assertFalse(kinds(found) & (called | rest))
        self.assertFalse(converted(found))

    def test_no_certificate_goes_unchecked(self):
        """The manager writes the authority into the APIServices; helm would write this back."""
        for values in ("defaults", "every-server", "cert-manager"):
            services = [o for (kind, _), o in rendered(f"regatta/{values}").items()
                        if kind == "APIService"]
            self.assertEqual(len(services), 2, values)
            self.assertFalse([s for s in services if "insecureSkipTLSVerify" in s["spec"]], values)

    def test_the_pod_is_locked_down(self):
        pod = objects("regatta")["Deployment", "regatta-controller-manager"]["spec"]["template"]["spec"]
        self.assertEqual(pod["securityContext"],
                         {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}})
        for container in pod["containers"]:
            self.assertEqual(container["securityContext"], {
                "readOnlyRootFilesystem": True, "allowPrivilegeEscalation": False,
                "capabilities": {"drop": ["ALL"]}})
            self.assertTrue(container["livenessProbe"] and container["readinessProbe"])
            self.assertTrue(all(v.get("readOnly") for v in container["volumeMounts"]))

    def test_probes_and_ports_follow_the_configuration(self):
        config = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n" \
                 "health: {healthProbeBindAddress: '0'}\nmetrics: {bindAddress: '0'}\n"
        found = objects("regatta", *OFF, "--set-string",
                        "managerConfig.controllerManagerConfigYaml=" + config.replace(",", "\\,"))
        container = found["Deployment", "regatta-controller-manager"]["spec"]["template"]["spec"][
            "containers"][0]
        self.assertNotIn("livenessProbe", container)
        self.assertFalse(container["ports"])
        self.assertNotIn("Service", kinds(found))

    def test_metrics_are_https_unless_values_say_otherwise(self):
        for secure in (True, False):
            found = objects("regatta", "--set=enablePrometheus=true",
                            f"--set=metrics.secureServing={str(secure).lower()}")
            monitor = next(o for (kind, _), o in found.items() if kind == "ServiceMonitor")
            endpoint = monitor["spec"]["endpoints"][0]
            self.assertEqual(endpoint["scheme"], "https" if secure else "http")
            self.assertEqual("bearerTokenFile" in endpoint, secure)
            config = yaml.load(found["ConfigMap", "regatta-manager-config"]["data"][
                "controller_manager_config.yaml"], LOADER)
            self.assertEqual(config["metrics"].get("secureServing", True), secure)
            self.assertEqual(("ClusterRole", "regatta-metrics-reader") in found, secure)

    def test_another_configuration_is_another_pod(self):
        def checksum(*args):
            made = objects("regatta", *args)["Deployment", "regatta-controller-manager"]
            return made["spec"]["template"]["metadata"]["annotations"]["checksum/config"]
        changed = "managerConfig.controllerManagerConfigYaml=kind: Configuration"
        self.assertNotEqual(checksum(), checksum("--set-string", changed))
        self.assertEqual(checksum(), checksum("--set", "controllerManager.replicas=2"))


class KueuesValues(unittest.TestCase):
    """A values file of Kueue's chart works as it is."""

    def test_its_image_is_not_run(self):
        found = rendered("regatta/kueue")
        container = found["Deployment", "kueue-controller-manager"]["spec"]["template"]["spec"][
            "containers"][0]
        self.assertRegex(container["image"], r"^registry\.example/regatta:\d")

    def test_an_image_of_another_name_is_run(self):
        found = objects("regatta", "--set", "controllerManager.manager.image.repository=me/regatta",
                        "--set", "controllerManager.manager.image.tag=7")
        container = found["Deployment", "regatta-controller-manager"]["spec"]["template"]["spec"][
            "containers"][0]
        self.assertEqual(container["image"], "me/regatta:7")

    def test_the_names_of_objects_are_kueues(self):
        found = rendered("regatta/kueue")
        for known in [("Deployment", "kueue-controller-manager"),
                      ("ServiceAccount", "kueue-controller-manager"),
                      ("ConfigMap", "kueue-manager-config"),
                      ("PodDisruptionBudget", "kueue-manager-pdb"),
                      ("Service", "kueue-controller-manager-metrics-service"),
                      ("ClusterRole", "kueue-manager-role"),
                      ("ClusterRole", "kueue-batch-admin-role"),
                      ("ClusterRole", "kueue-workload-editor-role")]:
            self.assertIn(known, found)

    def test_what_has_no_effect_is_said(self):
        with tempfile.TemporaryDirectory() as home:
            notes = charts.run("install", "regatta", charts.CHARTS / "regatta", "--dry-run=client",
                               "--kubeconfig", f"{home}/none", "-n", charts.NAMESPACE,
                               "-f", charts.VALUES / "regatta/kueue.yaml").split("NOTES:")[1]
        for text in ("registry.internal/kueue/kueue of the values is Kueue's",
                     "without effect: enableMutatingAdmissionPolicy, enableKueueViz."):
            self.assertIn(text, " ".join(notes.split()))


class Refusals(unittest.TestCase):
    def refused(self, chart, args, *parts):
        with self.assertRaises(charts.RenderFailed) as caught:
            charts.template(chart, *args)
        for part in parts:
            self.assertIn(part, str(caught.exception))

    def test_values_that_are_wrong_are_refused_by_name(self):
        cases = [
            ("controllerManager.replica=2", "replica"),
            ("controllerManager.replicas=-1", "replicas"),
            ("controllerManager.replicas=many", "replicas"),
            ("controllerManager.manager.logLevel=loud", "logLevel"),
            ("controllerManager.manager.image.pullPolicy=Sometimes", "pullPolicy"),
            ("controllerManager.manager.image.digest=latest", "digest"),
            ("controllerManager.featureGates[0].name=MultiKueue", "enabled"),
            ("enableWebhook=true", "enableWebhook"),
            ("enableVisibility=yes", "enableVisibility"),
            ("metricsService.ports[0].port=0", "port"),
            ("metricsService.ports={}", "ports"),
            ("mutatingWebhook.reinvocationPolicy=Always", "reinvocationPolicy"),
            ("networkPolicy.enable=true", "enable"),
            ("managedClusters.settings.accounts=Make", "accounts"),
            ("managedClusters.settings.proxyURL=http://a", "proxyURL"),
            ("managedClusters.settings.url=https://a", "url"),
        ]
        for setting, name in cases:
            with self.subTest(setting):
                self.refused("regatta", ["--set", setting], name)

    def test_values_of_the_workers_chart_that_are_wrong_are_refused(self):
        for setting, name in [("namespaces={Team}", "namespaces"), ("name=a/b", "name"),
                              ("frameworks={deployment}", "frameworks"), ("tokens=1", "tokens")]:
            with self.subTest(setting):
                self.refused("regatta-worker", ["--set", setting], name)

    def test_a_configuration_that_cannot_work_is_refused(self):
        name = "managerConfig.controllerManagerConfigYaml"
        self.refused("regatta", ["--set-string", f"{name}=a: [b"], name, "is no YAML object")
        self.refused("regatta", ["--set", "controllerManager.replicas=2", "--set-string",
                                 f"{name}=leaderElection: {{leaderElect: false}}"],
                     "two managers would act at once")


# The kinds of jobs that Regatta has.
FRAMEWORKS = json.loads((charts.CHARTS / "regatta-worker/values.schema.json").read_text())[
    "properties"]["frameworks"]["items"]["anyOf"][0]["enum"]
# Those that run on no worker.
LOCAL_FRAMEWORKS = ["sparkoperator.k8s.io/sparkapplication"]
# Those whose Pods are the jobs.
PODS_FRAMEWORKS = ["deployment", "leaderworkerset.x-k8s.io/leaderworkerset", "statefulset"]

PROFILES = ["--set=controllerManager.featureGates[0].name=MultiKueueClusterProfile",
            "--set=controllerManager.featureGates[0].enabled=true"]


class Permissions(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.asked, self.wrong = permissions.derived()

    def manager(self, *args):
        """The rules that are bound to the manager, by namespace; None: everywhere."""
        found, rules = objects("regatta", *OFF, *args), {}
        for (kind, _), binding in found.items():
            if not kind.endswith("Binding"):
                continue
            if not any(s["name"] == "regatta-controller-manager" for s in binding["subjects"]):
                continue
            role = found.get((binding["roleRef"]["kind"], binding["roleRef"]["name"]))
            if not role:  # Kubernetes' own
                continue
            rules.setdefault(role["metadata"].get("namespace"), []).extend(role["rules"])
        return rules

    def test_every_place_that_sends_a_request_is_known(self):
        self.assertEqual(self.wrong, [])

    def test_the_manager_may_do_what_it_does_and_no_more(self):
        rules = self.manager(*PROFILES)
        everywhere, own = (permissions.granted(rules[n]) for n in (None, charts.NAMESPACE))
        self.assertEqual(sorted(everywhere | own),
                         sorted(self.asked["own"] | self.asked["reviews"]))
        # Secrets, Leases and ClusterProfiles of its namespace only.
        self.assertEqual({r for _, _, r in own}, {"secrets", "leases", "clusterprofiles"})
        self.assertFalse({r for _, _, r in everywhere} & {"secrets", "leases", "clusterprofiles"})

    def test_cluster_profiles_are_read_only_with_their_gate(self):
        reads = lambda *args: any(
            r == "clusterprofiles" for rules in self.manager(*args).values()
            for _, _, r in permissions.granted(rules))
        self.assertFalse(reads())
        self.assertTrue(reads(*PROFILES))
        in_file = ("apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"
                   "featureGates: {MultiKueueClusterProfile: true}\n")
        self.assertTrue(reads("--set-string", "managerConfig.controllerManagerConfigYaml="
                              + in_file.replace(",", "\\,")))
        self.assertFalse(reads(*[p.replace("true", "false") for p in PROFILES]))

    def test_a_cluster_that_is_no_hub_reads_nothing_of_workers(self):
        def all_of(*args):
            return {(ns, one) for ns, rules in self.manager(*args).items()
                    for one in permissions.granted(rules)}
        no_hub = ["--set=controllerManager.featureGates[0].name=MultiKueue",
                  "--set=controllerManager.featureGates[0].enabled=false"]
        gone = all_of() - all_of(*no_hub)
        self.assertEqual({(ns, r) for ns, (_, _, r) in gone}, {
            (charts.NAMESPACE, "secrets"), (None, "multikueueclusters"), (None, "multikueueconfigs"),
            (None, "multikueueclusters/status"), (None, "placements"), (None, "placementdecisions")})
        self.assertFalse(all_of(*no_hub) - all_of())

    MANAGED = ["--set=managedClusters.enabled=true", "--set=managedClusters.settings.connection=Proxy",
               "--set=managedClusters.settings.proxyURL=https://proxy"]
    REQUEST = "--set=managedClusters.settings.accounts=Request"

    def more(self, *args):
        """(namespace, permission, names) that these values add."""
        def all_of(*given):
            return {(ns, one, tuple(rule.get("resourceNames", [])))
                    for ns, rules in self.manager(*given).items() for rule in rules
                    for one in permissions.granted([rule])}
        return all_of(*args) - all_of()

    def test_workers_of_managed_clusters_need_no_more_than_is_used(self):
        asked = {p for p in self.asked["managed"] if p[2] != "clusterprofiles"}
        more = self.more(*self.MANAGED, self.REQUEST)
        self.assertEqual(sorted({p for _, p, _ in more}), sorted(asked))
        used = self.more(*self.MANAGED)
        ocm = {"managedserviceaccounts", "clusterpermissions"}
        self.assertEqual({(v, r) for _, (v, _, r), _ in used if r in ocm},
                         {(v, r) for v in ("list", "watch") for r in ocm})
        self.assertFalse([p for _, p, _ in self.more(*self.MANAGED[:1]) if p[2] == "configmaps"])

    def test_of_other_namespaces_only_what_is_called_like_the_account_is_read(self):
        for args, name in (([], "multikueue"), (["--set=managedClusters.settings.account=a"], "a")):
            more = self.more(*self.MANAGED, self.REQUEST, *args)
            for ns, (verb, _, resource), names in more:
                named = resource in ("secrets", "managedserviceaccounts", "clusterpermissions")
                if ns is None and named and verb != "create":
                    self.assertEqual(names, (name,), (verb, resource))
            everywhere = {v for ns, (v, _, r), _ in more if ns is None and r == "secrets"}
            self.assertEqual(everywhere, {"list", "watch"})
            self.assertEqual({ns for ns, (_, _, r), _ in more if r == "configmaps"},
                             {charts.NAMESPACE})

    def test_settings_of_managed_clusters_are_those_of_the_configuration(self):
        def settings(*args):
            text = objects("regatta", *args)["ConfigMap", "regatta-manager-config"]["data"][
                "controller_manager_config.yaml"]
            return yaml.load(text, LOADER).get("multiKueue", {}).get("managedClusters")
        self.assertIsNone(settings())
        self.assertEqual(settings(*self.MANAGED), {"accounts": "Use", "connection": "Proxy",
                                                   "proxyURL": "https://proxy"})
        own = "--set-literal=managerConfig.controllerManagerConfigYaml=multiKueue: " \
              "{managedClusters: {account: mine}}"
        self.assertEqual(settings(own, *self.MANAGED), {"accounts": "Use", "account": "mine"})
        self.assertTrue(any(p[2] == "managedclusters" for _, p, _ in self.more(own)))

    def test_the_example_for_managed_clusters_has_what_the_chart_has(self):
        text = (ROOT / "examples/rbac/managed-clusters.yaml").read_text()
        example = {(o["metadata"].get("namespace"), p, tuple(r.get("resourceNames", [])))
                   for o in yaml.load_all(text, LOADER) for r in o.get("rules", [])
                   for p in permissions.granted([r])}
        self.assertEqual(example, self.more(*self.MANAGED, self.REQUEST))

    def test_certificates_need_no_more_than_they_use(self):
        every = [f"--set=enable{server}=true" for server in ("Webhooks", "Conversion", "Visibility")]
        with_them = {p for rules in self.manager(*every).values() for p in permissions.granted(rules)}
        without = {p for rules in self.manager().values() for p in permissions.granted(rules)}
        missing = (self.asked["certificates"] | self.asked["reviews"]) - with_them
        self.assertEqual(missing, set())
        about = {r for _, _, r in self.asked["certificates"]}
        more = {(v, g, r) for v, g, r in with_them - without if r in about}
        self.assertLessEqual(more, self.asked["certificates"])

    def test_questions_about_users_are_granted_where_they_are_asked(self):
        for args, wanted in ((["--set=metrics.secureServing=false"], set()),
                             (["--set=metrics.secureServing=false", "--set=enableVisibility=true"],
                              {"subjectaccessreviews"}),
                             ([], {"subjectaccessreviews", "tokenreviews"})):
            granted = permissions.granted(self.manager(*args)[None])
            self.assertEqual({r for _, _, r in granted if r.endswith("reviews")}, wanted, args)

    def test_one_definition_may_be_read(self):
        limited = [r for r in self.manager()[None] if "customresourcedefinitions" in r["resources"]]
        self.assertEqual([r["resourceNames"] for r in limited], [["workloads.kueue.x-k8s.io"]])

    def test_a_hub_may_do_on_a_worker_what_it_does_and_no_more(self):
        for args in ([], ["--set", "namespaces={a,b}"]):
            found = objects("regatta-worker", *args)
            rules = [r for (kind, _), o in found.items() if kind in ("ClusterRole", "Role")
                     for r in o["rules"]]
            self.assertEqual(sorted(permissions.granted(rules)), sorted(self.asked["worker"]))

    def test_what_a_hub_provides_is_granted_where_it_may(self):
        found = objects("regatta-worker", "--set", "provide=true")
        granted = permissions.granted(found["ClusterRole", "multikueue-sa"]["rules"])
        self.assertEqual(granted, self.asked["worker"] | self.asked["provide"])
        self.assertFalse(self.asked["provide"] <= self.asked["worker"])

    def test_listed_kinds_of_jobs_are_granted_as_jobs_are(self):
        listed = [one for one in FRAMEWORKS[1:] if one not in PODS_FRAMEWORKS]
        self.assertIn("ray.io/rayjob", listed)
        config = "integrations: {frameworks: [%s]}" % ", ".join(listed + LOCAL_FRAMEWORKS)
        jobs = lambda asked: {(v, r) for v, g, r in asked if g == "batch"}
        own = permissions.granted(self.manager(
            "--set-literal", f"managerConfig.controllerManagerConfigYaml={config}")[None])
        found = objects("regatta-worker", "--set", "frameworks={%s}" % ",".join(listed))
        worker = permissions.granted(found["ClusterRole", "multikueue-sa"]["rules"])
        for framework in listed + LOCAL_FRAMEWORKS:
            group, _, kind = framework.rpartition("/")
            for granted, asked in ((own, self.asked["own"]), (worker, self.asked["worker"])):
                if granted is worker and framework in LOCAL_FRAMEWORKS:
                    continue
                given = {(v, r) for v, g, r in granted
                         if g == group and r.split("/")[0] == f"{kind}s"}
                wanted = {(v, r.replace("jobs", f"{kind}s")) for v, r in jobs(asked)}
                more = set()
                if granted is worker and framework != "ray.io/raycluster":  # whose sizes follow
                    self.assertNotIn(("patch", f"{kind}s"), given)
                    more = {("patch", f"{kind}s")}
                self.assertEqual(given | more, wanted | more)

    def test_described_kinds_that_are_listed_are_granted_as_jobs_are(self):
        rules = rendered("regatta/described")["ClusterRole", "regatta-manager-role"]["rules"]
        granted = permissions.granted(rules)
        jobs = {(v, r) for v, g, r in self.asked["own"] if g == "batch"}
        for group, plural in (("flows.example.com", "pipelines"), ("batch.example.com", "jobs")):
            given = {(v, r) for v, g, r in granted if g == group and r.split("/")[0] == plural}
            self.assertEqual(given, {(v, r.replace("jobs", plural)) for v, r in jobs})
        self.assertNotIn("drafts", {r for _, _, r in granted})

    def test_kinds_of_other_controllers_are_read_and_written_where_they_are_sent_to_workers(self):
        rules = rendered("regatta/described")["ClusterRole", "regatta-manager-role"]["rules"]
        granted = permissions.granted(rules)
        read = {"get", "list", "watch"}
        for plural, wanted in (("missions", read), ("policies", read),
                               ("processes", {"delete", "get", "list", "patch", "watch"}),
                               ("missions/status", set()), ("processes/status", {"patch"})):
            self.assertEqual({v for v, g, r in granted if (g, r) == ("flows.example.com", plural)},
                             wanted, plural)

    def test_a_worker_grants_resources_by_their_names(self):
        found = rendered("regatta-worker/frameworks")
        granted = permissions.granted(found["ClusterRole", "multikueue-sa"]["rules"])
        jobs = {v for v, g, r in self.asked["worker"] if (g, r) == ("batch", "jobs")}
        self.assertEqual({v for v, g, r in granted
                          if (g, r) == ("flows.example.com", "processes")}, jobs - {"patch"})

    def test_what_acts_through_pods_is_read_and_its_pods_are_jobs(self):
        for listed, group, wanted in [("deployment", "apps", set()),
                                      ("statefulset", "apps", {"get", "list", "watch"}),
                                      (PODS_FRAMEWORKS[1], PODS_FRAMEWORKS[1].split("/")[0],
                                       {"get", "list", "watch"})]:
            config = "integrations: {frameworks: [%s]}" % listed
            granted = permissions.granted(self.manager(
                "--set-literal", f"managerConfig.controllerManagerConfigYaml={config}")[None])
            self.assertEqual({v for v, g, r in granted if g == group}, wanted)
            self.assertIn(("delete", "", "pods"), granted)

    def test_stateful_sets_of_a_hub_are_jobs_on_its_workers(self):
        found = objects("regatta-worker", "--set", "frameworks={statefulset}")
        granted = permissions.granted(found["ClusterRole", "multikueue-sa"]["rules"])
        self.assertEqual({v for v, g, r in granted if (g, r) == ("apps", "statefulsets")},
                         {"get", "list", "watch", "create", "delete"})

    def test_sizes_follow_from_the_hub(self):
        group = PODS_FRAMEWORKS[1].split("/")[0]
        found = objects("regatta-worker", "--set", "frameworks={%s,batch/job,ray.io/raycluster,"
                        "jobset.x-k8s.io/jobset}" % PODS_FRAMEWORKS[1])
        granted = permissions.granted(found["ClusterRole", "multikueue-sa"]["rules"])
        for changed in ((group, "leaderworkersets"), ("batch", "jobs"), ("ray.io", "rayclusters")):
            self.assertEqual({v for v, g, r in granted if (g, r) == changed},
                             {"get", "list", "watch", "create", "delete", "patch"})
        self.assertNotIn(("patch", "jobset.x-k8s.io", "jobsets"), granted)

    def test_runtimes_of_listed_kinds_are_read(self):
        config = "integrations: {frameworks: [trainer.kubeflow.org/trainjob]}"
        granted = permissions.granted(self.manager(
            "--set-literal", f"managerConfig.controllerManagerConfigYaml={config}")[None])
        for runtime in ("trainingruntimes", "clustertrainingruntimes"):
            self.assertEqual({v for v, g, r in granted if (g, r) == ("trainer.kubeflow.org", runtime)},
                             {"list", "watch"})

    def test_clusters_of_elastic_jobs_of_ray_are_read(self):
        for kind in ("rayjob", "rayservice"):
            config = "integrations: {frameworks: [ray.io/%s]}" % kind
            granted = permissions.granted(self.manager(
                "--set-literal", f"managerConfig.controllerManagerConfigYaml={config}")[None])
            self.assertEqual({v for v, g, r in granted if (g, r) == ("ray.io", "rayclusters")},
                             {"list", "watch"})

    def test_a_hub_writes_in_its_namespaces_only(self):
        found = objects("regatta-worker", "--set", "namespaces={a,b}")
        verbs = {v for v, _, _ in permissions.granted(found["ClusterRole", "multikueue-sa"]["rules"])}
        self.assertEqual(verbs, {"get", "list", "watch"})
        spaces = [o["metadata"]["namespace"] for o in yaml.load_all(
            charts.template("regatta-worker", "--set", "namespaces={a,b}"), LOADER)
            if o and o["kind"] == "Role"]
        self.assertEqual(spaces, ["a", "b"])

    def test_placements_have_the_rights_of_the_example(self):
        rights = lambda found: {kind: permissions.granted(o["rules"])
                                for (kind, _), o in found if kind in ("ClusterRole", "Role")}
        text = (ROOT / "examples/rbac/placement.yaml").read_text()
        example = [((o["kind"], ""), o) for o in yaml.load_all(text, LOADER)]
        self.assertEqual(rights(objects("regatta-placement").items()), rights(example))

    def test_placements_make_workers_only_when_asked(self):
        self.assertNotIn(("ConfigMap", "regatta-placement"), objects("regatta-placement"))
        found = objects("regatta-placement", "--set=managedClusters.enabled=true",
                        "--set=managedClusters.settings.accounts=Request",
                        "--set=managedClusters.settings.connection=Proxy",
                        "--set=managedClusters.settings.proxyURL=https://proxy")
        name = "regatta-placement-managedclusters"
        text = (ROOT / "examples/rbac/placement-managed-clusters.yaml").read_text()
        for o in yaml.load_all(text, LOADER):
            if "rules" in o:
                self.assertEqual(permissions.granted(found[o["kind"], name]["rules"]),
                                 permissions.granted(o["rules"]))
        self.assertLessEqual(self.asked["placement"],
                             permissions.granted(found["ClusterRole", name]["rules"]))
        pod = found["Deployment", "regatta-placement"]["spec"]["template"]["spec"]
        self.assertIn("--config=/etc/regatta/configuration.yaml", pod["containers"][0]["args"])
        config = yaml.load(found["ConfigMap", "regatta-placement"]["data"]["configuration.yaml"],
                           LOADER)
        self.assertEqual(config["multiKueue"]["managedClusters"],
                         {"accounts": "Request", "connection": "Proxy", "proxyURL": "https://proxy"})
        self.assertEqual(config["integrations"]["frameworks"], ["batch/job"])

    def test_placements_are_found_where_the_values_say(self):
        for setting, place in (([], "kueue-system"), (["--set", "systemNamespace=other"], "other")):
            found = objects("regatta-placement", *setting)
            args = found["Deployment", "regatta-placement"]["spec"]["template"]["spec"][
                "containers"][0]["args"]
            self.assertIn(f"--namespace={place}", args)
            self.assertEqual(found["Role", "regatta-placement-leader"]["metadata"]["namespace"],
                             place)

    @staticmethod
    def by_name(rules):
        """(permission, names of objects) of rules; the charts' objects are called as Kueue's are."""
        return {(one, tuple(n.replace("regatta-", "kueue-") for n in rule.get("resourceNames", [])))
                for rule in rules for one in permissions.granted([rule])}

    def example(self, file):
        text = (ROOT / "examples/rbac" / file).read_text()
        return {(o["metadata"].get("namespace"), *one) for o in yaml.load_all(text, LOADER)
                for one in self.by_name(o.get("rules", []))}

    def test_the_example_of_a_manager_has_what_the_chart_has(self):
        listed = [one for one in FRAMEWORKS + LOCAL_FRAMEWORKS + PODS_FRAMEWORKS if one != "batch/job"]
        config = "integrations: {frameworks: [%s]}" % ", ".join(listed)
        every = [f"--set=enable{server}=true" for server in ("Webhooks", "Conversion", "Visibility")]
        rules = self.manager(*every, *PROFILES, "--set-literal",
                             f"managerConfig.controllerManagerConfigYaml={config}")
        chart = {(ns, *one) for ns, some in rules.items() for one in self.by_name(some)}
        more = {  # The chart makes the Secret of the certificate; by hand the manager may do it.
            (charts.NAMESPACE, ("create", "", "secrets"), ()),
        }
        self.assertFalse(more & chart)
        self.assertEqual(self.example("manager.yaml"), chart | more)

    def test_the_example_of_a_hub_has_what_the_chart_of_workers_has(self):
        found = objects("regatta-worker", "--set", "frameworks={%s}" % ",".join(FRAMEWORKS))
        chart = {(None, *one) for (kind, _), o in found.items() if kind in ("ClusterRole", "Role")
                 for one in self.by_name(o["rules"])}
        self.assertEqual(self.example("multikueue.yaml"), chart)


class Webhooks(unittest.TestCase):
    def configurations(self):
        found = rendered("regatta/every-server")
        return [w for (kind, _), o in found.items() if kind.endswith("WebhookConfiguration")
                for w in o["webhooks"]]

    def test_each_path_of_kueues_kinds_is_served(self):
        """webhooks/review.cpp lists the kinds."""
        text = (ROOT / "webhooks/review.cpp").read_text()
        rules = re.findall(r'\{"\w+", "(\w+)",\s*(nullptr)?', text)
        served = {f"/validate-kueue-x-k8s-io-v1beta2-{path}" for path, _ in rules}
        served |= {f"/mutate-kueue-x-k8s-io-v1beta2-{path}" for path, none in rules if not none}
        asked = {w["clientConfig"]["service"]["path"] for w in self.configurations()}
        self.assertEqual({p for p in asked if "kueue" in p}, served)
        self.assertEqual({p for p in asked if "kueue" not in p},
                         {"/mutate-batch-v1-job", "/validate-batch-v1-job"})

    def test_listed_kinds_of_jobs_are_reviewed(self):
        found = rendered("regatta/kueue")
        paths = [w["clientConfig"]["service"]["path"] for (kind, _), o in found.items()
                 if kind.endswith("WebhookConfiguration") for w in o["webhooks"]]
        jobset = "jobset-x-k8s-io-v1alpha2-jobset"
        self.assertLessEqual({f"/mutate-{jobset}", f"/validate-{jobset}"}, set(paths))

    def test_described_kinds_that_are_listed_are_reviewed(self):
        found = objects("regatta", "--set=enableWebhooks=true",
                        values=charts.VALUES / "regatta/described.yaml")
        hooks = [w for (kind, _), o in found.items() if kind.endswith("WebhookConfiguration")
                 for w in o["webhooks"]]
        names = [w["name"] for w in hooks]
        self.assertEqual(len(names), len(set(names)))
        for path, rule in (("flows-example-com-v1-pipeline", ["flows.example.com", "v1", "pipelines"]),
                           ("batch-example-com-v1alpha1-job",
                            ["batch.example.com", "v1alpha1", "jobs"])):
            rules = {w["clientConfig"]["service"]["path"]: w["rules"][0] for w in hooks}
            for verb in ("mutate", "validate"):
                given = rules[f"/{verb}-{path}"]
                self.assertEqual([given["apiGroups"][0], given["apiVersions"][0],
                                  given["resources"][0]], rule)
        self.assertFalse([n for n in names if "draft" in n or "mission" in n])

    def test_the_kinds_of_jobs_are_those_of_the_program(self):
        text = (ROOT / "manager/config/integration_rules.cpp").read_text()
        known = set(re.findall(r'\{"([\w./-]+)",\s*"\w+\.v', text))
        self.assertEqual(known, set(FRAMEWORKS + LOCAL_FRAMEWORKS + PODS_FRAMEWORKS))

    def test_templates_of_what_acts_through_pods_are_reviewed_at_each_change(self):
        for listed in PODS_FRAMEWORKS:
            config = "integrations: {frameworks: [%s]}" % listed
            found = objects("regatta", "--set", "enableWebhooks=true", "--set-literal",
                            f"managerConfig.controllerManagerConfigYaml={config}")
            hooks = found["MutatingWebhookConfiguration",
                          "regatta-mutating-webhook-configuration"]["webhooks"]
            operations = {w["name"]: w["rules"][0]["operations"] for w in hooks}
            kind = listed.split("/")[-1]
            self.assertEqual(operations[f"m{kind}.kb.io"], ["CREATE", "UPDATE"])
            self.assertEqual(operations["mpod.kb.io"], ["CREATE"], "they are held back")

    def test_jobs_of_managed_namespaces_only_are_reviewed(self):
        jobs = [w for w in self.configurations() if w["name"].endswith("job.kb.io")]
        self.assertEqual([w["namespaceSelector"] for w in jobs],
                         [{"matchLabels": {"queues": "yes"}}] * 2)
        found = objects("regatta", "--set", "enableWebhooks=true")
        hook = [w for w in found["MutatingWebhookConfiguration",
                                 "regatta-mutating-webhook-configuration"]["webhooks"]
                if w["name"] == "mjob.kb.io"][0]
        self.assertEqual(hook["namespaceSelector"]["matchExpressions"][0]["values"],
                         ["kube-system", charts.NAMESPACE])


if __name__ == "__main__":
    unittest.main()
